// fabric/slurm/slurm_addresses.cpp - reads the switches above each host from the host's
// own job environment.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/index.hpp"
#include "base/text.hpp"
#include "fabric/disjoint_sets.hpp"
#include "fabric/slurm/slurm.hpp"

namespace gradcoll {

namespace {

using Words = std::vector<std::string_view>;

/// Splits the text at the dots outside of brackets.
Words dotted_words(std::string_view text) {
    Words words;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[') ++depth;
        if (text[i] == ']') --depth;
        if (text[i] != '.' || depth > 0) continue;
        words.push_back(text.substr(begin, i - begin));
        begin = i + 1;
    }
    words.push_back(text.substr(begin));
    return words;
}

/// Joins `count` successive words of one text, with the dots between them.
std::string_view joined(const Words& words, std::size_t first, std::size_t count) {
    const std::string_view last = words[first + count - 1];
    return {words[first].data(),
            static_cast<std::size_t>(last.data() + last.size() - words[first].data())};
}

/// Returns the texts of the switches, from the top. Names may hold dots (topograph's "switch.1.2";
/// node names with a domain): the pattern says how many switches there are, the host's own name
/// where the node begins, and the rest is shared out evenly. Errors: why that is impossible.
Result<Words> levels_of(const SlurmAddress& host) {
    const auto wrong = [](std::string what) { return Status(Code::invalid_argument, what); };
    const Words words = dotted_words(host.address);
    if (std::count(host.address.begin(), host.address.end(), '[') !=
        std::count(host.address.begin(), host.address.end(), ']'))
        return wrong("a bracket is not closed");
    if (words.back().empty()) return wrong("no node name at the end");
    std::size_t levels = words.size() - 1;
    if (!host.pattern.empty()) {
        const Words pattern = dotted_words(host.pattern);
        if (pattern.back() != "node")
            return wrong(fmt::format("the pattern \"{}\" does not end in \"node\"",
                                     printable(host.pattern)));
        levels = std::min(levels, pattern.size() - 1);
    }
    if (levels == 0) return Words();
    const std::string_view short_name =
        std::string_view(host.host_name).substr(0, host.host_name.find('.'));
    const auto node =
        std::find(words.begin() + static_cast<std::ptrdiff_t>(levels), words.end() - 1, short_name);
    const auto of_switches = static_cast<std::size_t>(node - words.begin());
    if (of_switches % levels != 0)
        return wrong(fmt::format("{} words for the names of {} switches", of_switches, levels));
    Words names;
    for (std::size_t i = 0; i < of_switches; i += of_switches / levels)
        names.push_back(joined(words, i, of_switches / levels));
    return names;
}

/// MergedGroups joins switches that reach a host side by side to one virtual switch, and groups
/// that share a member.
class MergedGroups {
  public:
    /// Returns a member of the group that `text` names ("s[4-7]"). Errors: those of the host list.
    Result<int> member_of(std::string_view text) {
        const auto known = member_of_.find(std::string(text));
        if (known != member_of_.end()) return known->second;
        std::vector<std::string> names =
            GRADCOLL_VALUE(names_of_host_list(text, max_fabric_nodes - names_.size()));
        int first = -1;
        for (std::string& name : names) {
            const auto [place, is_new] = id_of_.try_emplace(name, static_cast<int>(names_.size()));
            if (is_new) {
                names_.push_back(std::move(name));
                groups_.add();
            }
            first = first < 0 ? place->second : first;
            groups_.join(place->second, first);
        }
        member_of_.emplace(text, first);
        return first;
    }

    /// Returns the member that stands for the group.
    int group_of(int member) { return groups_.find(member); }

    /// Returns the name of each group, by the member that stands for it.
    std::vector<std::string> names_of_groups() {
        std::vector<std::vector<std::string>> members(names_.size());
        for (std::size_t i = 0; i < names_.size(); ++i)
            members[at(group_of(static_cast<int>(i)))].push_back(names_[i]);
        std::vector<std::string> names;
        for (const auto& group : members) names.push_back(host_list_of(group));
        return names;
    }

  private:
    std::unordered_map<std::string, int> member_of_;  ///< by group as written
    std::unordered_map<std::string, int> id_of_;
    std::vector<std::string> names_;
    DisjointSets groups_;
};

struct HostPathUp {
    const SlurmAddress* host;
    std::vector<int> members;  ///< groups above the host, from the top
};

Status wrong_address(const SlurmAddress& host, const std::string& what) {
    return {Code::invalid_argument,
            fmt::format("SLURM_TOPOLOGY_ADDR \"{}\" of host \"{}\": {}; expected names of switches "
                        "and the node with dots between them, such as root.s[4-7].node12",
                        printable(host.address), printable(host.host_name), what)};
}

/// Returns the hosts whose environment names switches; for a name that comes twice, the first.
Result<std::vector<HostPathUp>> paths_up(std::span<const SlurmAddress> hosts,
                                         MergedGroups& switches) {
    std::vector<HostPathUp> paths;
    std::unordered_set<std::string_view> seen;
    for (const SlurmAddress& host : hosts) {
        if (host.address.empty()) continue;
        const Result<Words> levels = levels_of(host);
        if (!levels.ok()) return wrong_address(host, levels.status().message());
        HostPathUp path{&host, {}};
        for (const std::string_view level : *levels) {
            if (level.empty()) continue;
            const Result<int> member = switches.member_of(level);
            if (!member.ok()) return wrong_address(host, member.status().message());
            path.members.push_back(*member);
        }
        if (!path.members.empty() && seen.insert(host.host_name).second)
            paths.push_back(std::move(path));
    }
    return paths;
}

/// Cables adds a cable for each pair of neighbours on a way down, once.
class Cables {
  public:
    explicit Cables(FabricBuilder& fabric) : fabric_(fabric) {}
    void add(int upper, int lower) {
        const auto key =
            static_cast<std::uint64_t>(upper) << 32 | static_cast<std::uint32_t>(lower);
        if (upper != lower && there_.insert(key).second) fabric_.add_cable(upper, lower);
    }

  private:
    FabricBuilder& fabric_;
    std::unordered_set<std::uint64_t> there_;
};

}  // namespace

Result<Fabric> fabric_from_slurm_addresses(std::span<const SlurmAddress> hosts) {
    MergedGroups switches;
    const std::vector<HostPathUp> paths = GRADCOLL_VALUE(paths_up(hosts, switches));
    const std::vector<std::string> names = switches.names_of_groups();
    FabricBuilder builder;
    Cables cables(builder);
    for (const HostPathUp& path : paths) {
        int upper = -1;
        for (const int member : path.members) {
            const int lower =
                builder.switch_named(names[static_cast<std::size_t>(switches.group_of(member))]);
            if (upper >= 0) cables.add(upper, lower);
            upper = lower;
        }
        cables.add(upper, builder.host_named(path.host->host_name));
    }
    Fabric& fabric = builder.fabric();
    fabric.rooted = true;
    if (paths.empty()) fabric.notes.emplace_back("SLURM names no switches above the hosts");
    return paths.empty() ? std::move(fabric) : builder.take();
}

}  // namespace gradcoll
