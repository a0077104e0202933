// collectives/predict/cost.cpp - alpha-beta cost of the tree.
#include "collectives/predict/cost.hpp"

#include <algorithm>

#include "collectives/exchange/exchange.hpp"

namespace gradcoll {
bool connects_hosts(const Tree& tree, int vertex) {
    return connects_hosts(tree.vertex(vertex).kind);
}

LinkFigures uplink_figures(const Tree& tree, const Tuning& tuning, int vertex) {
    const Uplink& link = tree.vertex(vertex).uplink;
    const LinkSpeed& usual = tuning.link_below(tree.vertex(tree.vertex(vertex).parent).kind);
    LinkFigures figures{usual.gbytes_per_s.in_memory(), usual.latency_us};
    if (link.bandwidth_gbytes_per_s > 0) figures.gbytes_per_s = link.bandwidth_gbytes_per_s;
    if (link.latency_us > 0) figures.latency_us = link.latency_us;
    return figures;
}

LinkFigures link_figures(const Tree& tree, const Tuning& tuning, int vertex) {
    LinkFigures slowest;
    for (int child : tree.children(vertex)) {
        const LinkFigures link = uplink_figures(tree, tuning, child);
        slowest.gbytes_per_s = slowest.gbytes_per_s > 0
                                   ? std::min(slowest.gbytes_per_s, link.gbytes_per_s)
                                   : link.gbytes_per_s;
        slowest.latency_us = std::max(slowest.latency_us, link.latency_us);
    }
    return slowest;
}

double link_us(const Tree& tree, const Tuning& tuning, int vertex, double bytes) {
    const auto degree = static_cast<double>(tree.children(vertex).size());
    return bytes * (degree - 1) / degree / (link_figures(tree, tuning, vertex).gbytes_per_s * 1e3);
}

double phase_us(const Tree& tree, const Tuning& tuning, int vertex, Exchange exchange,
                double bytes) {
    const int degree = static_cast<int>(tree.children(vertex).size());
    const int rounds = round_count(exchange, degree);
    const int senders = senders_at_once(exchange, degree);
    const double carried = exchange == Exchange::single ? bytes * degree : bytes;
    const double loss =
        connects_hosts(tree, vertex) ? 1 + tuning.incast_loss_per_sender * (senders - 1) : 1;
    return rounds * link_figures(tree, tuning, vertex).latency_us +
           link_us(tree, tuning, vertex, carried) * loss;
}

}  // namespace gradcoll
