// collectives/cost.cpp - alpha-beta cost of the tree.
#include "collectives/cost.hpp"

#include <algorithm>

#include "collectives/exchange.hpp"

namespace gradcoll {
namespace {

double wire_bytes(const PlanSpec& spec, CodecId codec, std::int64_t count_elems) {
    return static_cast<double>(
        encoded_bytes(codec, spec.elem_bytes, static_cast<std::size_t>(count_elems)));
}

/// Both phases, or the one that the collective has, of one chunk at one vertex.
double vertex_us(const Tree& tree, const PlanSpec& spec, int vertex, std::int64_t chunk_elems) {
    const VertexChoice choice = spec.choices.of(vertex);
    const CodecId down = choice.codec == CodecId::exact ? CodecId::exact : spec.down_codec;
    double us = 0;
    if (spec.collective != Collective::allgather)
        us += phase_us(tree, vertex, choice.exchange, wire_bytes(spec, choice.codec, chunk_elems));
    if (spec.collective != Collective::reduce_scatter_block)
        us += phase_us(tree, vertex, choice.exchange, wire_bytes(spec, down, chunk_elems));
    return us;
}

}  // namespace

bool connects_hosts(const Tree& tree, int vertex) {
    const VertexKind kind = tree.vertex(vertex).kind;
    return kind == VertexKind::fabric_switch || kind == VertexKind::group;
}

LinkFigures uplink_figures(const Tree& tree, int vertex) {
    const Uplink& link = tree.vertex(vertex).uplink;
    LinkFigures figures = connects_hosts(tree, tree.vertex(vertex).parent) ? default_between_hosts
                                                                           : default_inside_host;
    if (link.bandwidth_gbytes_per_s > 0) figures.gbytes_per_s = link.bandwidth_gbytes_per_s;
    if (link.latency_us > 0) figures.latency_us = link.latency_us;
    return figures;
}

LinkFigures link_figures(const Tree& tree, int vertex) {
    LinkFigures slowest;
    for (int child : tree.children(vertex)) {
        const LinkFigures link = uplink_figures(tree, child);
        slowest.gbytes_per_s = slowest.gbytes_per_s > 0
                                   ? std::min(slowest.gbytes_per_s, link.gbytes_per_s)
                                   : link.gbytes_per_s;
        slowest.latency_us = std::max(slowest.latency_us, link.latency_us);
    }
    return slowest;
}

double link_us(const Tree& tree, int vertex, double bytes) {
    const auto degree = static_cast<double>(tree.children(vertex).size());
    return bytes * (degree - 1) / degree / (link_figures(tree, vertex).gbytes_per_s * 1e3);
}

double phase_us(const Tree& tree, int vertex, Exchange exchange, double bytes) {
    const int degree = static_cast<int>(tree.children(vertex).size());
    const int rounds = round_count(exchange, degree);
    const int senders = (degree - 1) / rounds;
    const double loss =
        connects_hosts(tree, vertex) ? 1 + incast_loss_per_sender * (senders - 1) : 1;
    return rounds * link_figures(tree, vertex).latency_us + link_us(tree, vertex, bytes) * loss;
}

double predicted_us(const Tree& tree, const PlanSpec& spec) {
    if (spec.count_elems == 0) return 0;
    const std::int64_t chunk =
        spec.chunk_elems == 0 ? spec.count_elems : std::min(spec.chunk_elems, spec.count_elems);
    std::vector<double> by_level(static_cast<std::size_t>(tree.height()), 0.0);
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
        if (tree.is_leaf(vertex)) continue;
        double& slowest = by_level[static_cast<std::size_t>(tree.vertex(vertex).height - 1)];
        slowest = std::max(slowest, vertex_us(tree, spec, vertex, chunk));
    }
    double sum = 0;
    double slowest = 0;
    for (double us : by_level) {
        sum += us;
        slowest = std::max(slowest, us);
    }
    const double further_chunks =
        static_cast<double>(spec.count_elems) / static_cast<double>(chunk) - 1;
    return sum + further_chunks * slowest;
}

}  // namespace gradcoll
