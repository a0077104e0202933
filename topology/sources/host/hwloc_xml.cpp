// topology/sources/host/hwloc_xml.cpp - see hwloc_xml.hpp.
#include "topology/sources/host/hwloc_xml.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <pugixml.hpp>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "topology/sources/host/hwloc_objects.hpp"

namespace gradcoll {

namespace {

constexpr std::size_t max_xml_bytes = std::size_t{64} << 20;
constexpr int max_object_depth = 128;
constexpr int max_xml_objects = 1 << 20;

enum class Family : std::uint8_t { cpus, memory, device, misc };

std::optional<Family> family_of(std::string_view type) {
    static constexpr std::array cpus{"Machine",  "Package",  "Die",      "Core",     "PU",
                                     "Group",    "L1Cache",  "L2Cache",  "L3Cache",  "L4Cache",
                                     "L5Cache",  "L1dCache", "L2dCache", "L3dCache", "L1iCache",
                                     "L2iCache", "L3iCache"};
    if (type == "NUMANode" || type == "MemCache") return Family::memory;
    if (type == "Bridge" || type == "PCIDev" || type == "OSDev") return Family::device;
    if (type == "Misc") return Family::misc;
    const bool known = std::find(cpus.begin(), cpus.end(), type) != cpus.end();
    return known ? std::optional(Family::cpus) : std::nullopt;
}

/// These are numbers, which hwloc's readers check no further.
constexpr std::array numbers{"local_memory", "cache_size", "cache_linesize", "cache_associativity",
                             "kind",         "subkind",    "dont_merge"};
/// These belong to devices: hexadecimal digits with signs between them.
constexpr std::array addresses{"bridge_pci", "pci_busid", "pci_type", "pci_link_speed"};

/// ObjectSets is what an object holds, and what its children must stay within.
struct ObjectSets {
    Bitmap cpus = new_bitmap(), all_cpus = cpus;     ///< usable ones, and all with those that are
                                                     ///< hidden or offline
    Bitmap nodes = new_bitmap(), all_nodes = nodes;  ///< NUMA nodes
};

bool is_within(const Bitmap& set, const Bitmap& other) {
    return hwloc_bitmap_isincluded(set.get(), other.get()) != 0;
}

bool is_only(const Bitmap& set, std::uint64_t bit) {
    return hwloc_bitmap_weight(set.get()) == 1 &&
           hwloc_bitmap_isset(set.get(), static_cast<unsigned>(bit)) != 0;
}

class Checker {
  public:
    explicit Checker(std::string_view xml) : xml_(xml) {}

    Result<std::string> run() {
        if (xml_.size() > max_xml_bytes) return wrong(0, "more than 64 MiB");
        pugi::xml_document read, written;
        const pugi::xml_parse_result parsed =
            read.load_buffer(xml_.data(), xml_.size(), pugi::parse_default, pugi::encoding_utf8);
        if (!parsed) return wrong(parsed.offset, parsed.description());
        const pugi::xml_node topology = read.child("topology");
        if (!topology) return wrong(0, "no <topology> is there");
        pugi::xml_node out = written.append_child("topology");
        const std::string_view version = topology.attribute("version").value();
        const std::optional<int> known = hwloc_xml_version(topology);
        if (!known)
            return wrong(topology, fmt::format("found version {}, expected 1, 2.0 or 3.0",
                                               printable(version)));
        rewrite_as_version_2(topology, *known);
        out.append_attribute("version") = "2.0";
        GRADCOLL_TRY(machine(topology.child("object"), out));
        std::ostringstream text;
        written.save(text, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
        return std::move(text).str();
    }

  private:
    Status machine(const pugi::xml_node& object, pugi::xml_node& topology) {
        const std::string_view type = object.attribute("type").value();
        if (type != "Machine") return wrong(object, "the outermost object is no Machine");
        if (object.next_sibling("object")) return wrong(object, "several outermost objects");
        const ObjectSets sets = GRADCOLL_VALUE(sets_of(object, type));
        if (hwloc_bitmap_iszero(sets.cpus.get()) || hwloc_bitmap_weight(sets.all_cpus.get()) < 0)
            return wrong(object, "the machine's CPUs are none, or without end");
        pugi::xml_node out = topology.append_child("object");
        GRADCOLL_TRY(write(object, type, out));
        GRADCOLL_TRY(write_allowed(object, sets, out));
        GRADCOLL_TRY(children(object, Family::cpus, sets, out, 1));
        if (!has_pu_) return wrong(object, "no PU is there");
        if (memory_seen_.empty()) return wrong(object, "no NUMANode is there");
        return {};
    }

    /// Writes the sets of what may be used of the whole machine.
    Status write_allowed(const pugi::xml_node& object, const ObjectSets& sets,
                         pugi::xml_node& out) {
        for (const auto& [name, within] :
             {std::pair{"allowed_cpuset", &sets.all_cpus}, {"allowed_nodeset", &sets.all_nodes}}) {
            const pugi::xml_attribute attribute = object.attribute(name);
            if (!attribute) continue;
            const Bitmap set = bitmap_from(attribute.value());
            if (!set || !is_within(set, *within) || hwloc_bitmap_iszero(set.get()))
                return wrong(object, fmt::format("{} is no part of the machine", name));
            out.append_attribute(name) = attribute.value();
        }
        return {};
    }

    Status children(const pugi::xml_node& above, Family family, const ObjectSets& within,
                    pugi::xml_node& out, int depth) {
        if (depth > max_object_depth)
            return wrong(above,
                         fmt::format("more than {} objects within each other", max_object_depth));
        const Bitmap taken = new_bitmap();
        for (const pugi::xml_node& object : above.children("object")) {
            const std::string_view type = object.attribute("type").value();
            const std::optional<Family> own = family_of(type);
            if (!own) return wrong(object, fmt::format("hwloc has no \"{}\"", printable(type)));
            if (*own == Family::misc) continue;
            if (++objects_ > max_xml_objects)
                return wrong(object, fmt::format("more than {} objects", max_xml_objects));
            GRADCOLL_TRY(check_place(object, type, *own, above, family));
            pugi::xml_node copy = out.append_child("object");
            GRADCOLL_TRY(write(object, type, copy));
            ObjectSets sets = within;
            if (*own != Family::device) {
                ObjectSets read = GRADCOLL_VALUE(sets_of(object, type));
                const bool is_of_memory = is_only_of_memory(type, read);
                GRADCOLL_TRY(
                    check_sets(object, is_of_memory ? Family::memory : *own, read, within, taken));
                sets = std::move(read);
            }
            GRADCOLL_TRY(children(object, *own, sets, copy, depth + 1));
        }
        return {};
    }

    Status check_place(const pugi::xml_node& object, std::string_view type, Family own,
                       const pugi::xml_node& above, Family family) {
        const std::string_view upper = above.attribute("type").value();
        const bool holds = family == Family::cpus     ? upper != "PU" || own == Family::device
                           : family == Family::memory ? own != Family::cpus
                                                      : own == Family::device;
        if (!holds || type == "Machine")
            return wrong(object, fmt::format("a {} below a {}", type, upper));
        has_pu_ = has_pu_ || type == "PU";
        return {};
    }

    /// Returns whether the object is a group of memory without CPUs. Nothing below it can have
    /// CPUs.
    static bool is_only_of_memory(std::string_view type, const ObjectSets& sets) {
        return type == "Group" && hwloc_bitmap_iszero(sets.all_cpus.get()) &&
               !hwloc_bitmap_iszero(sets.all_nodes.get());
    }

    /// Checks that the sets are within those of the object above, and that siblings share no CPU.
    Status check_sets(const pugi::xml_node& object, Family own, const ObjectSets& sets,
                      const ObjectSets& within, const Bitmap& taken) {
        if (!is_within(sets.all_cpus, within.all_cpus) || !is_within(sets.cpus, within.cpus))
            return wrong(object, "CPUs that the object above does not have");
        if (!is_within(sets.all_nodes, within.all_nodes) || !is_within(sets.nodes, within.nodes))
            return wrong(object, "NUMA nodes that the object above does not have");
        if (own != Family::cpus) return {};
        if (hwloc_bitmap_iszero(sets.all_cpus.get()) ||
            hwloc_bitmap_intersects(sets.all_cpus.get(), taken.get()))
            return wrong(object, "no CPUs, or some that the object beside it has, too");
        hwloc_bitmap_or(taken.get(), taken.get(), sets.all_cpus.get());
        return {};
    }

    Result<ObjectSets> sets_of(const pugi::xml_node& object, std::string_view type) {
        ObjectSets sets;
        GRADCOLL_TRY(read_set(object, "cpuset", nullptr, sets.cpus));
        GRADCOLL_TRY(read_set(object, "complete_cpuset", &sets.cpus, sets.all_cpus));
        GRADCOLL_TRY(read_set(object, "nodeset", nullptr, sets.nodes));
        GRADCOLL_TRY(read_set(object, "complete_nodeset", &sets.nodes, sets.all_nodes));
        if (type != "PU" && type != "NUMANode") return sets;
        const auto number = number_from<std::uint64_t>(object.attribute("os_index").value());
        if (!number || *number >= max_bitmap_bits)
            return wrong(object, fmt::format("a {} without a number below 65536", type));
        if (type == "PU" && !(is_only(sets.cpus, *number) && is_only(sets.all_cpus, *number)))
            return wrong(object, "a PU whose cpuset is not its number");
        if (type == "NUMANode" &&
            !(is_only(sets.nodes, *number) && is_only(sets.all_nodes, *number)))
            return wrong(object, "a NUMANode whose nodeset is not its number");
        if (type == "NUMANode" && !memory_seen_.insert(*number).second)
            return wrong(object, fmt::format("NUMANode {} is there twice", *number));
        return sets;
    }

    /// Reads a set. Without `other` it must exist; otherwise it must contain `other`, which is its
    /// default.
    Status read_set(const pugi::xml_node& object, const char* name, const Bitmap* other,
                    Bitmap& set) {
        const pugi::xml_attribute attribute = object.attribute(name);
        if (!attribute && other) {
            set = *other;
            return {};
        }
        const Bitmap read = bitmap_from(attribute.value());
        if (!read || (other && !is_within(*other, read)))
            return wrong(object, fmt::format("{} is \"{}\", expected words such as 0x000000ff{}",
                                             name, printable(attribute.value()),
                                             other ? " that hold the usable ones" : ""));
        set = read;
        return {};
    }

    Status write(const pugi::xml_node& object, std::string_view type, pugi::xml_node& out) {
        out.append_attribute("type") = object.attribute("type").value();
        for (const char* name : {"cpuset", "complete_cpuset", "nodeset", "complete_nodeset"}) {
            pugi::xml_attribute set = object.attribute(name);
            if (!set && std::string_view(name).starts_with("complete_"))
                set = object.attribute(name + std::string_view("complete_").size());
            if (set) out.append_attribute(name) = set.value();
        }
        if (const auto number = number_from<std::uint64_t>(object.attribute("os_index").value());
            number && *number < 0xffffffff)
            out.append_attribute("os_index") = *number;
        for (const char* name : {"name", "subtype"})
            if (const pugi::xml_attribute text = object.attribute(name))
                out.append_attribute(name) = text.value();
        GRADCOLL_TRY(write_numbers(object, type, out));
        for (const pugi::xml_node& info : object.children("info")) {
            pugi::xml_node copy = out.append_child("info");
            copy.append_attribute("name") = info.attribute("name").value();
            copy.append_attribute("value") = info.attribute("value").value();
        }
        return {};
    }

    Status write_numbers(const pugi::xml_node& object, std::string_view type, pugi::xml_node& out) {
        for (const char* name : numbers) {
            const pugi::xml_attribute value = object.attribute(name);
            if (!value) continue;
            if (!number_from<std::uint64_t>(value.value()) &&
                std::string_view(value.value()) != "-1")
                return wrong(object, fmt::format("{} is no number", name));
            out.append_attribute(name) = value.value();
        }
        for (const char* name : addresses) {
            const std::string_view value = object.attribute(name).value();
            if (value.empty()) continue;
            if (value.size() > 64 ||
                value.find_first_not_of("0123456789abcdefABCDEF:.[]- ") != value.npos)
                return wrong(object, fmt::format("{} is no address", name));
            out.append_attribute(name) = object.attribute(name).value();
        }
        if (type.ends_with("Cache")) return write_cache(object, type, out);
        if (type == "Bridge") return one_of(object, "bridge_type", {"0-1", "1-1"}, out);
        if (type == "OSDev")
            return one_of(object, "osdev_type", {"0", "1", "2", "3", "4", "5"}, out);
        return {};
    }

    /// Writes depth and kind from the type, since hwloc believes them even if the type says
    /// otherwise.
    Status write_cache(const pugi::xml_node& object, std::string_view type, pugi::xml_node& out) {
        const bool names_level = type[0] == 'L';  // "L1iCache", not "MemCache"
        if (names_level)
            out.append_attribute("depth") = std::string(1, type[1]).c_str();
        else
            GRADCOLL_TRY(one_of(object, "depth", {"1", "2", "3", "4", "5"}, out));
        if (names_level && type[2] == 'i') return one_of(object, "cache_type", {"2"}, out);
        if (names_level) return one_of(object, "cache_type", {"0", "1"}, out);
        return one_of(object, "cache_type", {"0", "1", "2"}, out);
    }

    static std::string in_words(std::string_view name,
                                std::initializer_list<std::string_view> allowed) {
        const bool may_be_bits = name == "osdev_type";
        return fmt::format("{}{}", fmt::join(allowed, ", "),
                           may_be_bits ? " (in version 3 the sum of its bits)" : "");
    }

    Status one_of(const pugi::xml_node& object, const char* name,
                  std::initializer_list<std::string_view> allowed, pugi::xml_node& out) {
        const pugi::xml_attribute value = object.attribute(name);
        if (std::find(allowed.begin(), allowed.end(), value.value()) == allowed.end())
            return wrong(object, fmt::format("{} is \"{}\", expected {}", name,
                                             printable(value.value()), in_words(name, allowed)));
        out.append_attribute(name) = value.value();
        return {};
    }

    /// What was added to the text's objects stands where the object above it does.
    Status wrong(pugi::xml_node node, const std::string& what) const {
        while (node.offset_debug() < 0 && node.parent()) node = node.parent();
        return wrong(node.offset_debug(), what);
    }
    Status wrong(std::ptrdiff_t offset, const std::string& what) const {
        const auto at =
            std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(xml_.size()));
        return {Code::invalid_argument,
                fmt::format("line {}: {}", 1 + std::count(xml_.begin(), xml_.begin() + at, '\n'),
                            what)};
    }

    std::string_view xml_;
    bool has_pu_ = false;
    int objects_ = 0;
    std::unordered_set<std::uint64_t> memory_seen_;
};

}  // namespace

Result<std::string> checked_hwloc_xml(std::string_view xml) {
    return Checker(xml).run();
}

}  // namespace gradcoll
