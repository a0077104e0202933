#include "api/comm/link_timing.hpp"

#include <algorithm>

#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

/// Of the vertex where most vectors meet: 2 (d-1) / d of the vector, each way.
double passes_of(const Tree& tree) {
    double passes = 0;
    for (const int vertex : tree.inner_vertices()) {
        if (!connects_hosts(tree, vertex)) continue;
        const auto degree = static_cast<double>(tree.children(vertex).size());
        passes = std::max(passes, 2 * (degree - 1) / degree);
    }
    return passes;
}

void set_links(TreeSpec& vertex, double gbytes_per_s) {
    for (TreeSpec& child : vertex.children) {
        if (connects_hosts(vertex.kind)) child.uplink.bandwidth_gbytes_per_s = gbytes_per_s;
        set_links(child, gbytes_per_s);
    }
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
    TreeSpec spec = tree.spec();
    set_links(spec, gbytes_per_s);
    auto changed = Tree::make(spec);
    return changed ? std::move(changed).value() : tree;
}

}  // namespace gradcoll
