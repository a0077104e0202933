// topology/sources/host/hwloc_versions.cpp - versions 1 and 3 of the format, as version 2.
#include "topology/sources/host/hwloc_xml.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "topology/sources/host/hwloc_objects.hpp"

namespace gradcoll {

namespace {

/// ObjectCollector collects all objects, upper ones first. It recurses nowhere, however deep they
/// are.
class ObjectCollector : public pugi::xml_tree_walker {
  public:
    std::vector<pugi::xml_node> take() { return std::move(objects_); }

  private:
    bool for_each(pugi::xml_node& node) override {
        if (std::string_view(node.name()) == "object") objects_.push_back(node);
        return true;
    }

    std::vector<pugi::xml_node> objects_;
};

std::vector<pugi::xml_node> objects_in(pugi::xml_node topology) {
    ObjectCollector collector;
    topology.traverse(collector);
    return collector.take();
}

std::string_view type_of(const pugi::xml_node& object) {
    return object.attribute("type").value();
}

void set_attribute(pugi::xml_node object, const char* name, const char* value) {
    pugi::xml_attribute attribute = object.attribute(name);
    if (!attribute) attribute = object.append_attribute(name);
    attribute.set_value(value);
}

bool is_special(std::string_view type) {
    return type == "Bridge" || type == "PCIDev" || type == "OSDev" || type == "Misc";
}

// ---- version 1 ----------------------------------------------------------------------------------

void name_as_version_2(pugi::xml_node object) {
    const std::string_view type = type_of(object);
    if (type == "Socket") set_attribute(object, "type", "Package");
    if (type == "System" && std::string_view(object.parent().name()) == "topology")
        set_attribute(object, "type", "Machine");
    if (type != "Cache") return;
    if (!object.attribute("cache_type")) object.append_attribute("cache_type") = "0";
    const std::string depth = std::string(object.attribute("depth").value()).substr(0, 2);
    const bool of_instructions = std::string_view(object.attribute("cache_type").value()) == "2";
    set_attribute(object, "type", ("L" + depth + (of_instructions ? "iCache" : "Cache")).c_str());
}

/// Gives the object the NUMA nodes of the object above, as version 1 leaves them out.
void complete_nodes(pugi::xml_node object) {
    if (object.attribute("nodeset")) return;
    for (const char* name : {"nodeset", "complete_nodeset"}) {
        object.remove_attribute(name);
        if (const pugi::xml_attribute above = object.parent().attribute(name))
            object.append_attribute(name) = above.value();
    }
}

/// Returns whether the attribute is a set with something in it.
bool has_some(const pugi::xml_node& object, const char* name) {
    const Bitmap set = bitmap_from(object.attribute(name).value());
    return set && !hwloc_bitmap_iszero(set.get());
}

pugi::xml_node add_memory(pugi::xml_node object) {
    pugi::xml_node memory = object.prepend_child("object");
    memory.append_attribute("type") = "NUMANode";
    for (const char* name :
         {"os_index", "cpuset", "complete_cpuset", "nodeset", "complete_nodeset", "local_memory"})
        if (const pugi::xml_attribute attribute = object.attribute(name))
            memory.append_attribute(name) = attribute.value();
    return memory;
}

/// Makes a Group of a NUMA node that holds CPUs, and puts its memory into it, if it has some.
void split_node(pugi::xml_node node) {
    const bool has_cpus = has_some(node, "cpuset") || has_some(node, "complete_cpuset");
    const bool has_memory = has_some(node, "nodeset") || !has_some(node, "complete_nodeset");
    if (!has_cpus) return;
    if (has_memory) add_memory(node);
    set_attribute(node, "type", "Group");
    node.remove_attribute("os_index");
    node.remove_attribute("local_memory");
}

/// Gives a machine without NUMA nodes one that holds all of its memory.
void add_only_node(pugi::xml_node machine, const std::vector<pugi::xml_node>& objects) {
    for (pugi::xml_node object : objects)
        if (!is_special(type_of(object)))
            for (const char* name : {"nodeset", "complete_nodeset"})
                set_attribute(object, name, "0x00000001");
    machine.remove_attribute("allowed_nodeset");
    set_attribute(add_memory(machine), "os_index", "0");
}

void rewrite_version_1(pugi::xml_node topology) {
    const pugi::xml_node machine = topology.child("object");
    const std::vector<pugi::xml_node> objects = objects_in(topology);
    const bool has_nodes = machine.attribute("nodeset");
    for (const pugi::xml_node& object : objects) {
        name_as_version_2(object);
        if (has_nodes && !is_special(type_of(object))) complete_nodes(object);
    }
    if (!has_nodes && machine) add_only_node(machine, objects);
    for (const pugi::xml_node& object : objects)
        if (type_of(object) == "NUMANode") split_node(object);
}

// ---- version 3 ----------------------------------------------------------------------------------

/// Returns the type in version 2 of a system device with these bits. A device may be several
/// things; which of them version 2 says matters only in that it is a GPU or none.
const char* system_device_type(std::uint64_t bits) {
    struct Type {
        std::uint64_t bit;
        const char* in_version_2;
    };
    static constexpr std::array types{Type{8, "5"}, Type{4, "1"}, Type{32, "3"}, Type{16, "2"},
                                      Type{64, "4"}};
    const auto found = std::find_if(types.begin(), types.end(),
                                    [&](const Type& type) { return (bits & type.bit) != 0; });
    return found == types.end() ? "0" : found->in_version_2;
}

void rewrite_version_3(pugi::xml_node topology) {
    for (pugi::xml_node object : objects_in(topology)) {
        if (type_of(object) != "OSDev") continue;
        if (const auto bits = number_from<std::uint64_t>(object.attribute("osdev_type").value()))
            set_attribute(object, "osdev_type", system_device_type(*bits));
    }
    pugi::xml_node machine = topology.child("object");
    for (const pugi::xml_node& info : topology.children("info")) machine.append_copy(info);
}

}  // namespace

std::optional<int> hwloc_xml_version(const pugi::xml_node& topology) {
    const std::string_view version = topology.attribute("version").value();
    if (version.empty() || version.starts_with("1.")) return 1;
    if (version == "2.0") return 2;
    if (version == "3.0") return 3;
    return std::nullopt;
}

void rewrite_as_version_2(pugi::xml_node topology, int version) {
    if (version == 1) rewrite_version_1(topology);
    if (version == 3) rewrite_version_3(topology);
}

}  // namespace gradcoll
