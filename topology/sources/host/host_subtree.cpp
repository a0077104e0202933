// topology/sources/host/host_subtree.cpp - see host_subtree.hpp.
#include "topology/sources/host/host_subtree.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "topology/sources/host/gpu_places.hpp"

namespace gradcoll {

namespace {

/// A Branch is a vertex under construction; children are found by kind and index, and kept in the
/// order in which they came.
struct Branch {
    TreeSpec spec;
    std::vector<Branch> children;
    std::map<std::pair<VertexKind, std::uint32_t>, std::size_t> child_of;

    Branch& child(const HostPath::Object& object) {
        const auto [found, fresh] =
            child_of.emplace(std::pair{object.kind, object.index}, children.size());
        if (fresh) {
            Branch& branch = children.emplace_back();
            branch.spec.kind = object.kind;
            branch.spec.name = object.name;
            branch.spec.uplink = object.uplink;
        }
        return children[found->second];
    }
    void add_leaf(int rank) {
        Branch& leaf = children.emplace_back();
        leaf.spec.kind = VertexKind::rank;
        leaf.spec.rank = rank;
    }
    TreeSpec take() {
        const bool alone_on_gpu = spec.kind == VertexKind::gpu && children.size() == 1;
        if (alone_on_gpu && children.front().spec.rank >= 0)
            spec.rank = children.front().spec.rank;
        else
            for (Branch& branch : children) spec.children.push_back(branch.take());
        return std::move(spec);
    }
};

}  // namespace

TreeSpec merge_host(const std::string& host_name, std::span<const HostPath> paths,
                    std::span<const int> ranks) {
    Branch host;
    host.spec.kind = VertexKind::host;
    host.spec.name = host_name;
    std::vector<std::size_t> order(ranks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
    for (const std::size_t i : order) {
        Branch* at = &host;
        for (const HostPath::Object& object : paths[i].objects) at = &at->child(object);
        at->add_leaf(ranks[i]);
    }
    return host.take();
}

HostSubtree subtree_as_told(const JobHost& host) {
    std::vector<HostPath> paths;
    for (const JobHost::Rank& rank : host.ranks) paths.push_back(rank.path);
    return {host.ranks.front().rank, merge_host(host.name, paths, ranks_of(host))};
}

HostSubtree subtree_as_described(const JobHost& host, std::span<const HostPath> places) {
    std::vector<std::string> names;
    for (const HostPath& place : places)
        names.push_back(place.objects.empty() ? "" : place.objects.back().name);
    std::vector<HostPath> paths;
    for (const std::size_t place : dealt_to_gpus(host.ranks.size(), gpus_of(host), names))
        paths.push_back(places[place]);
    return {host.ranks.front().rank, merge_host(host.name, paths, ranks_of(host))};
}

std::vector<int> ranks_of(const JobHost& host) {
    std::vector<int> ranks;
    for (const JobHost::Rank& rank : host.ranks) ranks.push_back(rank.rank);
    return ranks;
}

std::vector<std::string> gpus_of(const JobHost& host) {
    std::vector<std::string> gpus;
    for (const JobHost::Rank& rank : host.ranks) gpus.push_back(rank.gpu);
    return gpus;
}

}  // namespace gradcoll
