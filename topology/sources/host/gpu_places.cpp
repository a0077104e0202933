// topology/sources/host/gpu_places.cpp - see gpu_places.hpp.
#include "topology/sources/host/gpu_places.hpp"

#include <algorithm>
#include <map>

#include "topology/pci_address.hpp"

namespace gradcoll {

namespace {

using Objects = std::vector<HostPath::Object>;

/// This bit tells islands from hwloc's groups, which are numbered by CPUs.
constexpr std::uint32_t island_mark = std::uint32_t{1} << 31;

/// Cuts `path` to what it shares with `other`.
void keep_common(Objects& path, const Objects& other) {
    const auto same = [](const HostPath::Object& a, const HostPath::Object& b) {
        return a.kind == b.kind && a.index == b.index;
    };
    const auto [end, ignored] =
        std::mismatch(path.begin(), path.end(), other.begin(), other.end(), same);
    path.erase(end, path.end());
}

std::vector<std::uint64_t> above(const Objects& path) {
    std::vector<std::uint64_t> ids;
    for (const HostPath::Object& object : path)
        ids.push_back((std::uint64_t{static_cast<std::uint8_t>(object.kind)} << 32) | object.index);
    return ids;
}

void form_island(const GpuIsland& island, std::vector<Objects>& places) {
    Objects above = places[island.members.front()];
    for (const std::size_t member : island.members) keep_common(above, places[member]);
    const std::uint32_t first_index = places[island.members.front()].back().index;
    above.push_back({VertexKind::group, island_mark | first_index, gpu_links_name});
    for (std::size_t i = 0; i < island.members.size(); ++i) {
        Objects& place = places[island.members[i]];
        HostPath::Object gpu = std::move(place.back());
        gpu.uplink = {island.gbytes_per_s[i], 0};
        place = above;
        place.push_back(std::move(gpu));
    }
}

/// A UsedGpu is a GPU of a host's ranks, and who uses it.
struct UsedGpu {
    RankGpu gpu;
    std::vector<std::size_t> users;
};
using UsedGpus = std::map<std::uint32_t, UsedGpu>;

UsedGpus used_gpus(std::span<const RankGpu> gpus) {
    UsedGpus used;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        const auto address = PciAddress::from(gpus[i].bus_id);
        if (!address) continue;
        UsedGpu& entry = used[address->index()];
        entry.users.push_back(i);
        entry.gpu.bus_id = gpus[i].bus_id;
        if (entry.gpu.path.empty()) entry.gpu.path = gpus[i].path;
        if (entry.gpu.links.empty()) entry.gpu.links = gpus[i].links;
    }
    return used;
}

/// Returns a place below all that the bindings of the GPU's users share.
Objects unseen_place(std::uint32_t index, const UsedGpu& used, std::span<const HostPath> bindings) {
    Objects place = bindings[used.users.front()].objects;
    for (const std::size_t user : used.users) keep_common(place, bindings[user].objects);
    place.push_back({VertexKind::gpu, index, used.gpu.bus_id});
    return place;
}

}  // namespace

std::vector<Objects> gpu_places(std::span<const RankGpu> gpus, std::vector<std::string>& notes) {
    std::vector<Objects> places;
    std::vector<LinkedGpu> linked;
    for (const RankGpu& gpu : gpus) {
        places.push_back(gpu.path);
        linked.push_back({gpu.bus_id, gpu.links, above(gpu.path)});
    }
    const GpuIslands found = islands_of(linked);
    for (const GpuIsland& island : found.islands) form_island(island, places);
    if (!found.note.empty()) notes.push_back(found.note);
    return places;
}

void place_on_gpus(std::span<HostPath> paths, std::span<const RankGpu> gpus,
                   std::vector<std::string>& notes) {
    UsedGpus used = used_gpus(gpus);
    std::vector<RankGpu> distinct;
    for (auto& [index, entry] : used) {
        if (entry.gpu.path.empty()) entry.gpu.path = unseen_place(index, entry, paths);
        distinct.push_back(entry.gpu);
    }
    const std::vector<Objects> places = gpu_places(distinct, notes);
    auto place = places.begin();
    for (const auto& [index, entry] : used) {
        for (const std::size_t user : entry.users) paths[user].objects = *place;
        ++place;
    }
}

std::vector<std::size_t> dealt_to_gpus(std::size_t rank_count, std::span<const std::string> used,
                                       std::span<const std::string> described) {
    std::map<std::string, std::size_t> by_address;
    for (std::size_t i = 0; i < described.size(); ++i)
        if (const auto address = PciAddress::from(described[i]))
            by_address.try_emplace(address->text(), i);
    std::vector<std::size_t> dealt;
    for (const std::string& gpu : used)
        if (const auto found = by_address.find(gpu); found != by_address.end())
            dealt.push_back(found->second);
    if (dealt.size() == rank_count) return dealt;
    dealt.resize(rank_count);
    for (std::size_t i = 0; i < rank_count; ++i) dealt[i] = i % described.size();
    return dealt;
}

}  // namespace gradcoll
