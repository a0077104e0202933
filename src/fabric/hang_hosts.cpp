// fabric/hang_hosts.cpp - hangs the hosts of a job below the switches of a source.
#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "fabric/switch_tree.hpp"

namespace gradcoll {
namespace {

/// A note names at most this many hosts.
constexpr std::size_t most_named = 4;

/// Returns "node7" for "node7.cluster.org"; an address such as 10.0.0.7 stays.
std::string without_domain(std::string_view name) {
    const std::size_t dot = name.find('.');
    const std::string_view first = name.substr(0, dot);
    const bool is_address = first.find_first_not_of("0123456789") == std::string_view::npos;
    return std::string(is_address ? name : first);
}

/// HostIndex finds hosts by name, with less and less precision. A shortened name that stands for
/// several hosts of the source stands for none.
class HostIndex {
  public:
    explicit HostIndex(const SwitchTree& switches) : switches_(switches) {
        if (switches.by_rank) return;
        for (const auto& [name, host] : switches.hosts) {
            const std::string domainless = without_domain(name);
            add(short_, domainless, host);
            add(lower_, lower_case(domainless), host);
        }
    }

    const SwitchTree::Host* find(const HostSubtree& host) const {
        return find(switches_.by_rank ? std::to_string(host.lowest_rank) : host.spec.name);
    }

    const SwitchTree::Host* find(const std::string& name) const {
        if (const auto found = switches_.hosts.find(name); found != switches_.hosts.end())
            return &found->second;
        const std::string domainless = without_domain(name);
        if (const auto found = short_.find(domainless); found != short_.end() && found->second)
            return found->second;
        const auto found = lower_.find(lower_case(domainless));
        return found == lower_.end() ? nullptr : found->second;
    }

  private:
    using Index = std::unordered_map<std::string, const SwitchTree::Host*>;

    static void add(Index& index, const std::string& name, const SwitchTree::Host& host) {
        const auto [place, is_new] = index.try_emplace(name, &host);
        if (!is_new) place->second = nullptr;
    }

    const SwitchTree& switches_;
    Index short_, lower_;
};

/// RankedBranches is a vertex with its branches, each beside the lowest rank in it.
struct RankedBranches {
    std::vector<std::pair<int, TreeSpec>> all;

    int lowest_rank() const { return all.front().first; }
    void sort() {
        std::stable_sort(all.begin(), all.end(),
                         [](const auto& x, const auto& y) { return x.first < y.first; });
    }
};

TreeSpec spec_of(const SwitchTree::Switch& place, RankedBranches branches) {
    TreeSpec spec;
    spec.kind = place.name.empty() ? VertexKind::group : VertexKind::fabric_switch;
    spec.name = place.name;
    spec.uplink = place.uplink;
    for (auto& [rank, branch] : branches.all) spec.children.push_back(std::move(branch));
    return spec;
}

void note_unknown(const std::vector<std::string>& unknown, std::vector<std::string>& notes) {
    if (unknown.empty()) return;
    std::string note = unknown.size() == 1 ? "host " : "hosts ";
    for (std::size_t i = 0; i < std::min(unknown.size(), most_named); ++i)
        note += (i > 0 ? ", " : "") + printable(unknown[i]);
    if (unknown.size() > most_named)
        note += " and " + std::to_string(unknown.size() - most_named) + " more";
    notes.push_back(note + (unknown.size() == 1 ? " is" : " are") +
                    " not known to the source of the switches: below the topmost one");
}

}  // namespace

bool knows_all(const SwitchTree& switches, std::span<const std::string> names) {
    const HostIndex index(switches);
    return !switches.by_rank && std::all_of(names.begin(), names.end(), [&](const auto& name) {
        return index.find(name) != nullptr;
    });
}

TreeSpec hang_hosts(const SwitchTree& switches, std::vector<HostSubtree> hosts,
                    std::vector<std::string>& notes) {
    const HostIndex index(switches);
    std::vector<RankedBranches> below(std::max<std::size_t>(switches.switches.size(), 1));
    std::vector<std::string> unknown;
    for (HostSubtree& host : hosts) {
        const SwitchTree::Host* found = index.find(host);
        if (found) host.spec.uplink = found->uplink;
        if (!found)
            unknown.push_back(switches.by_rank ? "of rank " + std::to_string(host.lowest_rank)
                                               : host.spec.name);
        below[found ? static_cast<std::size_t>(found->at) : 0].all.emplace_back(
            host.lowest_rank, std::move(host.spec));
    }
    note_unknown(unknown, notes);
    for (std::size_t s = below.size() - 1; s > 0; --s) {
        if (below[s].all.empty()) continue;
        below[s].sort();
        const SwitchTree::Switch& place = switches.switches[s];
        const int lowest = below[s].lowest_rank();
        below[static_cast<std::size_t>(place.parent)].all.emplace_back(
            lowest, spec_of(place, std::move(below[s])));
    }
    below[0].sort();
    SwitchTree::Switch root;
    if (!switches.switches.empty()) root.name = switches.switches[0].name;
    return spec_of(root, std::move(below[0]));
}

}  // namespace gradcoll
