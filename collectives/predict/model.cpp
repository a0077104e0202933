// collectives/predict/model.cpp - the time that one link, one message, one codec and one core take.
#include "collectives/predict/model.hpp"

#include "base/index.hpp"
#include "collectives/predict/links.hpp"

namespace gradcoll {
namespace {

/// Returns the time of plain bytes at GB/s of plain bytes.
double work_us(double plain_bytes, double gbytes_per_s) {
    return plain_bytes / (gbytes_per_s * 1e3);
}

/// Returns the time of a core to pack, or to unpack, what `plain_bytes` encode to; 0 for codecs
/// that do not pack.
double packing_us(const Tuning& tuning, CodecId codec, double plain_bytes,
                  double PackingSpeed::*gbytes_per_s) {
    const Packing packing = packing_of(codec);
    if (packing == Packing::none) return 0;
    const double encoded = usual_plain_bytes(codec, sizeof(float), lossy_block_elems) /
                           static_cast<double>(lossy_block_elems * sizeof(float));
    return work_us(plain_bytes * encoded, tuning.of(packing).*gbytes_per_s);
}

}  // namespace

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

bool connects_hosts(const Tree& tree, int vertex) {
    return connects_hosts(tree.vertex(vertex).kind);
}

bool is_host(const Tree& tree, int vertex) {
    const int parent = tree.vertex(vertex).parent;
    return parent >= 0 && connects_hosts(tree, parent) && !connects_hosts(tree.vertex(vertex).kind);
}

bool knows_links(const Tree& tree) {
    for (int vertex = 1; vertex < tree.vertex_count(); ++vertex)
        if (tree.vertex(vertex).uplink.bandwidth_gbytes_per_s > 0) return true;
    return false;
}

bool knows_links_below(const Tree& tree, int vertex) {
    const auto children = tree.children(vertex);
    return std::any_of(children.begin(), children.end(), [&](int child) {
        return tree.vertex(child).uplink.bandwidth_gbytes_per_s > 0;
    });
}

double many_senders_factor(const Tree& tree, const Tuning& tuning, int vertex, double senders) {
    if (!connects_hosts(tree, vertex)) return 1;
    return 1 + tuning.incast_loss_per_sender * std::max(senders - 1, 0.0);
}

double bounded_senders_factor(const Tree& tree, const Tuning& tuning, int vertex, double senders) {
    return std::min(many_senders_factor(tree, tuning, vertex, senders),
                    1 + tuning.most_incast_loss);
}

/// Goes through children before their parents, which have lower numbers.
std::vector<double> climb_latencies_us(const Tree& tree, const Tuning& tuning) {
    std::vector<double> us(at(tree.vertex_count()), 0.0);
    for (int vertex = tree.vertex_count() - 1; vertex > 0; --vertex) {
        us[at(vertex)] += uplink_figures(tree, tuning, vertex).latency_us;
        double& above = us[at(tree.vertex(vertex).parent)];
        above = std::max(above, us[at(vertex)]);
    }
    return us;
}

std::vector<double> outlets_us_per_byte(const Tree& tree, const Tuning& tuning,
                                        const VertexChoices& choices) {
    const std::vector<double> holders = holder_counts(tree, choices);
    std::vector<double> outlets(holders.size(), 0.0);
    for (int vertex = tree.vertex_count() - 1; vertex > 0; --vertex) {
        const auto children = tree.children(vertex);
        const bool all_hold_all = choices.of(vertex).exchange == Exchange::single;
        double inner = 0;
        for (const int child : children)
            inner = std::max(
                inner, all_hold_all ? outlets[at(child)] * holders[at(child)] / holders[at(vertex)]
                                    : outlets[at(child)] / static_cast<double>(children.size()));
        outlets[at(vertex)] =
            std::max(inner, 1 / (uplink_figures(tree, tuning, vertex).gbytes_per_s * 1e3));
    }
    return outlets;
}

BusiestLink busiest_link(const Tree& tree, const Tuning& tuning, const std::vector<double>& bytes) {
    BusiestLink busiest;
    for (int vertex = 1; vertex < tree.vertex_count(); ++vertex) {
        const double us =
            bytes[at(vertex)] / (uplink_figures(tree, tuning, vertex).gbytes_per_s * 1e3);
        if (us > busiest.us) busiest = {vertex, us};
    }
    return busiest;
}

double wire_bytes(const PlanSpec& spec, CodecId codec, double elems) {
    return elems / static_cast<double>(lossy_block_elems) *
           usual_bytes(codec, spec.elem_bytes, lossy_block_elems);
}

double encode_us(const Tuning& tuning, CodecId codec, double plain_bytes,
                 double working_set_bytes) {
    if (codec == CodecId::exact) return 0;
    return work_us(plain_bytes, tuning.of(codec).encode.at(working_set_bytes)) +
           packing_us(tuning, codec, plain_bytes, &PackingSpeed::pack);
}

double decode_us(const Tuning& tuning, CodecId codec, double plain_bytes,
                 double working_set_bytes) {
    if (codec == CodecId::exact) return 0;
    return work_us(plain_bytes, tuning.of(codec).decode.at(working_set_bytes)) +
           packing_us(tuning, codec, plain_bytes, &PackingSpeed::unpack);
}

double add_us(const Tuning& tuning, CodecId codec, double plain_bytes, double working_set_bytes) {
    return work_us(plain_bytes, tuning.of(codec).decode_sum.at(working_set_bytes)) +
           packing_us(tuning, codec, plain_bytes, &PackingSpeed::unpack);
}

double ranks_a_core(const Tuning& tuning, int host_ranks) {
    if (tuning.cores == 0) return 1;
    return std::max(1.0, static_cast<double>(host_ranks) / tuning.cores);
}

}  // namespace gradcoll
