// topology/sources/host/nccl.cpp - see nccl.hpp.
#include "topology/sources/host/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/index.hpp"
#include "topology/pci_address.hpp"
#include "topology/sources/host/gpu_places.hpp"

namespace gradcoll {

namespace {

using Places = std::vector<NcclPlace>;

/// Returns the places of a kind, in the order of their numbers if all have one.
std::vector<int> of_kind(const Places& places, VertexKind kind) {
    std::vector<int> out;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i].kind == kind) out.push_back(static_cast<int>(i));
    const auto device = [&](int i) { return places[at(i)].device; };
    if (std::all_of(out.begin(), out.end(), [&](int i) { return device(i) >= 0; }))
        std::stable_sort(out.begin(), out.end(),
                         [&](int a, int b) { return device(a) < device(b); });
    return out;
}

/// Returns each GPU once for each of its parts.
std::vector<int> devices_of(const Places& places, std::span<const int> gpus) {
    std::vector<int> devices;
    for (const int gpu : gpus) devices.insert(devices.end(), places[at(gpu)].part_count, gpu);
    return devices;
}

/// Returns the lowest place that holds all of them.
int place_above(const Places& places, const std::vector<int>& members) {
    std::unordered_map<int, std::size_t> seen;
    for (const int member : members)
        for (int i = places[at(member)].parent; i >= 0; i = places[at(i)].parent) ++seen[i];
    int i = places[at(members.front())].parent;
    while (seen[i] < members.size()) i = places[at(i)].parent;
    return i;
}

/// Returns what is above the GPU, from the host down.
std::vector<std::uint64_t> above(const Places& places, int gpu) {
    std::vector<std::uint64_t> ids;
    for (int i = places[at(gpu)].parent; i >= 0; i = places[at(i)].parent)
        ids.push_back(static_cast<std::uint64_t>(i));
    std::reverse(ids.begin(), ids.end());
    return ids;
}

/// Returns one way to write an address, however long the file writes its domain ("0000:1b:00.0" of
/// a GPU is "00000000:1b:00.0" at the other end of a link).
std::string one_spelling(const std::string& name) {
    const auto address = PciAddress::from(name);
    return address ? address->text() : name;
}

LinkedGpu linked_gpu(const Places& places, int gpu) {
    LinkedGpu linked{one_spelling(places[at(gpu)].name), places[at(gpu)].links, above(places, gpu)};
    for (GpuLink& link : linked.links) link.target = one_spelling(link.target);
    return linked;
}

void form_islands(Places& places, std::span<const int> gpus, std::vector<std::string>& notes) {
    std::vector<LinkedGpu> linked;
    for (const int gpu : gpus) linked.push_back(linked_gpu(places, gpu));
    const GpuIslands found = islands_of(linked);
    for (const GpuIsland& members : found.islands) {
        std::vector<int> ids;
        for (const std::size_t member : members.members) ids.push_back(gpus[member]);
        NcclPlace island;
        island.kind = VertexKind::group;
        island.name = gpu_links_name;
        island.parent = place_above(places, ids);
        const int id = static_cast<int>(places.size());
        for (const int gpu : ids) {
            places[at(gpu)].parent = id;
            places[at(gpu)].uplink = {};
        }
        places.push_back(std::move(island));
    }
    if (!found.note.empty()) notes.push_back(found.note);
}

/// SpecMaker turns places into nested vertices; those without ranks are left out.
class SpecMaker {
  public:
    SpecMaker(Places& places, const std::unordered_map<int, std::vector<int>>& ranks)
        : places_(places), ranks_(ranks), below_(places.size()) {
        for (std::size_t i = 1; i < places.size(); ++i)
            below_[at(places[i].parent)].push_back(static_cast<int>(i));
    }

    /// Makes a vertex; the recursion is at most as deep as the file, plus an island.
    TreeSpec spec_of(int i) const {
        const NcclPlace& place = places_[at(i)];
        TreeSpec spec{place.kind, place.name, -1, place.uplink, {}};
        const auto own = ranks_.find(i);
        if (place.kind == VertexKind::gpu && own != ranks_.end() && own->second.size() == 1) {
            spec.rank = own->second.front();
            return spec;
        }
        if (own != ranks_.end())
            for (const int rank : own->second)
                spec.children.push_back({VertexKind::rank, "", rank, {}, {}});
        for (const int child : below_[at(i)]) {
            TreeSpec below = spec_of(child);
            if (below.rank >= 0 || !below.children.empty())
                spec.children.push_back(std::move(below));
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
                                std::vector<std::string>& notes,
                                std::span<const std::string> used_gpus) {
    if (ranks.empty())
        return Status(Code::invalid_argument, "NCCL topology: a described host has no ranks");
    Places places = GRADCOLL_VALUE(places_from_nccl(xml, notes));
    std::unordered_map<int, std::vector<int>> ranks_at;
    if (const std::vector<int> gpus = of_kind(places, VertexKind::gpu); !gpus.empty()) {
        form_islands(places, gpus, notes);
        const std::vector<int> devices = devices_of(places, gpus);
        std::vector<std::string> names;
        for (const int gpu : devices) names.push_back(places[at(gpu)].name);
        const auto dealt = dealt_to_gpus(ranks.size(), used_gpus, names);
        for (std::size_t i = 0; i < ranks.size(); ++i)
            ranks_at[devices[dealt[i]]].push_back(ranks[i]);
    } else {
        const std::vector<int> nodes = of_kind(places, VertexKind::numa);
        for (std::size_t i = 0; i < ranks.size(); ++i)
            ranks_at[nodes[i * nodes.size() / ranks.size()]].push_back(ranks[i]);
        notes.emplace_back(
            "the NCCL topology does not say which devices are GPUs: ranks are dealt to NUMA nodes");
    }
    return SpecMaker(places, ranks_at).spec_of(0);
}

Result<std::size_t> count_nccl_places(std::string_view xml) {
    std::vector<std::string> notes;
    const Places places = GRADCOLL_VALUE(places_from_nccl(xml, notes));
    const std::vector<int> gpus = of_kind(places, VertexKind::gpu);
    return gpus.empty() ? of_kind(places, VertexKind::numa).size()
                        : devices_of(places, gpus).size();
}

}  // namespace gradcoll
