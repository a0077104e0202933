#include "ways/learn/link_timing.hpp"

#include <algorithm>

#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

/// Returns how often a vector goes through the busiest link between hosts: 2 (d-1) / d times each
/// way below a vertex with d children.
double passes_of(const Tree& tree) {
    double passes = 0;
    for (const int vertex : tree.inner_vertices()) {
        if (!connects_hosts(tree, vertex)) continue;
        const auto degree = static_cast<double>(tree.children(vertex).size());
        passes = std::max(passes, 2 * (degree - 1) / degree);
    }
    return passes;
}

/// Sets the rates of all links between hosts. `rate_of` computes one from the vertex above the link
/// and the rate that it has.
template <class RateOf>
void set_links(TreeSpec& vertex, RateOf rate_of) {
    for (TreeSpec& child : vertex.children) {
        double& rate = child.uplink.bandwidth_gbytes_per_s;
        if (connects_hosts(vertex.kind)) rate = rate_of(vertex, rate);
        set_links(child, rate_of);
    }
}

template <class RateOf>
Tree with_links(const Tree& tree, RateOf rate_of) {
    TreeSpec spec = tree.spec();
    set_links(spec, rate_of);
    auto changed = Tree::make(spec);
    return changed ? std::move(changed).value() : tree;
}

}  // namespace

double LinkTiming::begin(const Tree& tree) {
    links_passes_ = passes_of(tree);
    calls_ = 0;
    gbytes_per_s_ = 0;
    return links_passes_;
}

bool LinkTiming::add(std::uint64_t vector_bytes, std::uint64_t elapsed_ns) {
    const double bytes = links_passes_ * static_cast<double>(vector_bytes);
    if (calls_++ > 0 && elapsed_ns > 0)
        gbytes_per_s_ = std::max(gbytes_per_s_, bytes / static_cast<double>(elapsed_ns));
    return calls_ == calls;
}

Result<double> LinkTiming::agree(MPI_Comm comm) const {
    double highest = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Allreduce(&gbytes_per_s_, &highest, 1, MPI_DOUBLE, MPI_MAX, comm),
                          "MPI_Allreduce"));
    return highest;
}

Tree with_links_between_hosts(const Tree& tree, double gbytes_per_s) {
    return with_links(tree, [=](const TreeSpec&, double) { return gbytes_per_s; });
}

Tree with_part_between_hosts(const Tree& tree, const Tuning& tuning, double part) {
    return with_links(tree, [&](const TreeSpec& above, double said) {
        return part * (said > 0 ? said : tuning.link_below(above.kind).gbytes_per_s.in_memory());
    });
}

}  // namespace gradcoll
