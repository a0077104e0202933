#include "ways/learn/link_timing.hpp"

#include <algorithm>
#include <array>

#include "collectives/predict/model.hpp"
#include "comm/started_calls.hpp"

namespace gradcoll {
namespace {

/// Returns how often a vector goes through the busiest link between hosts: 2 (d-1) / d times each
/// way below a vertex with d children.
double passes_of(const Tree& tree, int vertex) {
    if (!connects_hosts(tree, vertex)) return 0;
    const auto degree = static_cast<double>(tree.children(vertex).size());
    return 2 * (degree - 1) / degree;
}
double passes_of(const Tree& tree) {
    double passes = 0;
    for (const int vertex : tree.inner_vertices())
        passes = std::max(passes, passes_of(tree, vertex));
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
    gbytes_per_s_ = apart_gbytes_per_s_ = 0;
    return links_passes_;
}

bool LinkTiming::add(std::uint64_t wire_bytes, const LongCall& call) {
    const double bytes = links_passes_ * static_cast<double>(wire_bytes);
    double& highest = call.ends_apart ? apart_gbytes_per_s_ : gbytes_per_s_;
    if (calls_++ > 0 && call.elapsed_ns > 0)
        highest = std::max(highest, bytes / static_cast<double>(call.elapsed_ns));
    return calls_ == calls;
}

Result<double> LinkTiming::agree(MPI_Comm comm) const {
    std::array<double, 2> of_all{gbytes_per_s_, -apart_gbytes_per_s_};
    GRADCOLL_TRY(allreduce_going_on(of_all.data(), 2, MPI_DOUBLE, MPI_MAX, comm));
    return of_all[0] > 0 ? of_all[0] : -of_all[1];
}

double rate_said_by(const Tree& tree) {
    double ns_a_byte = 0;  // of the link that takes longest
    for (const int vertex : tree.inner_vertices())
        for (const int child : tree.children(vertex)) {
            const double rate = tree.vertex(child).uplink.bandwidth_gbytes_per_s;
            if (rate > 0) ns_a_byte = std::max(ns_a_byte, passes_of(tree, vertex) / rate);
        }
    return ns_a_byte > 0 ? passes_of(tree) / ns_a_byte : 0;
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
