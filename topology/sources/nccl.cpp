// topology/sources/nccl.cpp - see nccl.hpp.
#include "topology/sources/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "topology/sources/nccl_places.hpp"

namespace gradcoll {

namespace {

using Places = std::vector<NcclPlace>;

std::size_t index(int i) {
    return static_cast<std::size_t>(i);
}

/// GPUs that can reach each other over NVLink or XGMI, as sets.
class Islands {
  public:
    Islands(const Places& places, std::span<const int> gpus)
        : places_(places), set_of_(places.size()) {
        std::iota(set_of_.begin(), set_of_.end(), 0);
        std::unordered_map<std::string_view, int> by_name, by_switch;
        for (const int gpu : gpus) by_name.try_emplace(at(gpu).name, gpu);
        neighbours_.resize(places.size());
        for (const int gpu : gpus) {
            for (const std::string& target : at(gpu).joined)
                if (const auto other = by_name.find(target); other != by_name.end())
                    join(gpu, other->second);
            for (const std::string& name : at(gpu).switches)
                unite(gpu, by_switch.try_emplace(name, gpu).first->second);
        }
        for (const int gpu : gpus) sets_[root(gpu)].push_back(gpu);
    }

    /// Each with each or all with one switch, and more than one. In the order of the GPUs.
    std::vector<std::vector<int>> complete() const { return chosen(true); }
    /// Joined somehow, but not each with each.
    std::vector<std::vector<int>> incomplete() const { return chosen(false); }

  private:
    const NcclPlace& at(int gpu) const { return places_[index(gpu)]; }

    std::vector<std::vector<int>> chosen(bool complete) const {
        std::vector<std::vector<int>> out;
        for (const auto& [set, members] : sets_)
            if (members.size() > 1 && is_complete(members) == complete) out.push_back(members);
        return out;
    }

    bool is_complete(const std::vector<int>& members) const {
        const auto each = [&](const auto& holds) {
            return std::all_of(members.begin(), members.end(), holds);
        };
        if (each([&](int gpu) { return neighbours_[index(gpu)].size() == members.size() - 1; }))
            return true;
        const std::vector<std::string>& first = at(members.front()).switches;
        return !first.empty() && each([&](int gpu) {
            const std::vector<std::string>& own = at(gpu).switches;
            return std::find(own.begin(), own.end(), first.front()) != own.end();
        });
    }

    void join(int a, int b) {
        if (a == b) return;
        neighbours_[index(a)].insert(b);
        neighbours_[index(b)].insert(a);
        unite(a, b);
    }
    void unite(int a, int b) { set_of_[index(root(a))] = root(b); }
    int root(int gpu) {
        while (set_of_[index(gpu)] != gpu)
            gpu = set_of_[index(gpu)] = set_of_[index(set_of_[index(gpu)])];
        return gpu;
    }

    const Places& places_;
    std::vector<int> set_of_;
    std::vector<std::unordered_set<int>> neighbours_;
    std::map<int, std::vector<int>> sets_;
};

/// In the order of their numbers, if all have one.
std::vector<int> of_kind(const Places& places, VertexKind kind) {
    std::vector<int> out;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i].kind == kind) out.push_back(static_cast<int>(i));
    const auto device = [&](int i) { return places[index(i)].device; };
    if (std::all_of(out.begin(), out.end(), [&](int i) { return device(i) >= 0; }))
        std::stable_sort(out.begin(), out.end(),
                         [&](int a, int b) { return device(a) < device(b); });
    return out;
}

/// The lowest place that holds all of them.
int place_above(const Places& places, const std::vector<int>& members) {
    std::unordered_map<int, std::size_t> seen;
    for (const int member : members)
        for (int i = places[index(member)].parent; i >= 0; i = places[index(i)].parent) ++seen[i];
    int i = places[index(members.front())].parent;
    while (seen[i] < members.size()) i = places[index(i)].parent;
    return i;
}

void form_islands(Places& places, std::span<const int> gpus, std::vector<std::string>& notes) {
    const Islands islands(places, gpus);
    for (const std::vector<int>& members : islands.complete()) {
        NcclPlace island;
        island.kind = VertexKind::group;
        island.name = "GPU links";
        island.parent = place_above(places, members);
        const int id = static_cast<int>(places.size());
        for (const int gpu : members) {
            places[index(gpu)].parent = id;
            places[index(gpu)].uplink = {};
        }
        places.push_back(std::move(island));
    }
    std::size_t joined = 0;
    for (const std::vector<int>& members : islands.incomplete()) joined += members.size();
    if (joined > 0)
        notes.push_back(fmt::format(
            "links between GPUs join {} of them, but not each with each: the tree is that of PCIe",
            joined));
}

/// Places as nested vertices; those without ranks are left out.
class SpecMaker {
  public:
    SpecMaker(Places& places, const std::unordered_map<int, std::vector<int>>& ranks)
        : places_(places), ranks_(ranks), below_(places.size()) {
        for (std::size_t i = 1; i < places.size(); ++i)
            below_[index(places[i].parent)].push_back(static_cast<int>(i));
    }

    /// At most as deep as the file, plus an island.
    TreeSpec spec_of(int i) const {
        const NcclPlace& place = places_[index(i)];
        TreeSpec spec{place.kind, place.name, -1, place.uplink, {}};
        if (const auto own = ranks_.find(i); own != ranks_.end())
            for (const int rank : own->second)
                spec.children.push_back({VertexKind::rank, "", rank, {}, {}});
        for (const int child : below_[index(i)]) {
            TreeSpec below = spec_of(child);
            if (!below.children.empty()) spec.children.push_back(std::move(below));
        }
        return spec;
    }

  private:
    const Places& places_;
    const std::unordered_map<int, std::vector<int>>& ranks_;
    std::vector<std::vector<int>> below_;
};

}  // namespace

Result<TreeSpec> host_from_nccl(std::string_view xml, std::span<const int> ranks,
                                std::vector<std::string>& notes) {
    if (ranks.empty())
        return Status(Code::invalid_argument, "NCCL topology: a described host has no ranks");
    Result<Places> places = places_from_nccl(xml, notes);
    if (!places.ok()) return places.status();
    std::unordered_map<int, std::vector<int>> ranks_at;
    if (const std::vector<int> gpus = of_kind(*places, VertexKind::gpu); !gpus.empty()) {
        form_islands(*places, gpus, notes);
        for (std::size_t i = 0; i < ranks.size(); ++i)
            ranks_at[gpus[i % gpus.size()]].push_back(ranks[i]);
    } else {
        const std::vector<int> nodes = of_kind(*places, VertexKind::numa);
        for (std::size_t i = 0; i < ranks.size(); ++i)
            ranks_at[nodes[i * nodes.size() / ranks.size()]].push_back(ranks[i]);
        notes.emplace_back(
            "the NCCL topology does not say which devices are GPUs: ranks are dealt to NUMA nodes");
    }
    return SpecMaker(*places, ranks_at).spec_of(0);
}

}  // namespace gradcoll
