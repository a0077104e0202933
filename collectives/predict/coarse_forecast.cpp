// collectives/predict/coarse_forecast.cpp - predicts each vertex by itself, and how chunks flow
// through the levels.
#include <algorithm>

#include "collectives/exchange/exchange.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/links.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

constexpr double least_gain = 0.01;

/// Returns the time of the bytes of which each branch sends its part.
double part_us(const Tree& tree, int vertex, double wire_bytes, const LinkFigures& link) {
    const auto degree = static_cast<double>(tree.children(vertex).size());
    return wire_bytes * (degree - 1) / degree / (link.gbytes_per_s * 1e3);
}

/// Returns the bytes on the wire for one byte of the vector, both phases together. The way down is
/// assumed to be encoded where the way up is; exact levels above are ignored.
double wire_bytes_per_byte(const PlanSpec& spec, CodecId up) {
    const CodecId down = up == CodecId::exact ? CodecId::exact : spec.down_codec;
    return (wire_bytes(spec, up, 1) + wire_bytes(spec, down, 1)) / spec.elem_bytes;
}

struct LevelTime {
    double latency_us = 0;   ///< for one phase
    double us_per_byte = 0;  ///< for both phases
    double messages = 0;     ///< messages that a rank sends and receives in both phases
};

/// Returns times by height of the vertices; the slowest one of a height counts.
std::vector<LevelTime> level_times(const Tree& tree, const Tuning& tuning, const PlanSpec& spec) {
    const std::vector<double> outlets = outlets_us_per_byte(tree, tuning, VertexChoices{});
    const std::vector<double> latencies = message_latencies_us(tree, tuning);
    std::vector<LevelTime> levels(static_cast<std::size_t>(tree.height()));
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
        if (tree.is_leaf(vertex)) continue;
        double outlet_us = 0;
        for (const int child : tree.children(vertex))
            outlet_us = std::max(outlet_us, outlets[static_cast<std::size_t>(child)]);
        const auto degree = static_cast<double>(tree.children(vertex).size());
        const double bytes =
            wire_bytes_per_byte(spec, spec.choices.of(vertex).codec) * (degree - 1) / degree;
        LevelTime& level = levels[static_cast<std::size_t>(tree.vertex(vertex).height - 1)];
        level.latency_us = std::max(level.latency_us, latencies[static_cast<std::size_t>(vertex)]);
        level.us_per_byte = std::max(level.us_per_byte, bytes * outlet_us);
        level.messages = std::max(level.messages, 4 * (degree - 1));
    }
    return levels;
}

/// Returns the time of the busiest link for one byte of the vector.
double busiest_link_us_per_byte(const Tree& tree, const Tuning& tuning, PlanSpec spec) {
    constexpr double elems = 1 << 20;
    spec.count_elems = static_cast<std::int64_t>(elems);
    spec.chunk_elems = 0;
    return busiest_link(tree, tuning, expected_on_uplinks(tree, spec)).us /
           (elems * spec.elem_bytes);
}

/// Returns the codecs' time for each byte. Each element of a lossy allreduce passes a codec three
/// times on a rank: encoded and summed on the way up, decoded on the way down. The slowest codec
/// counts.
double codec_us_per_byte(const Tuning& tuning, const PlanSpec& spec) {
    double slowest_us = 0;
    const auto take = [&](CodecId codec) {
        if (codec == CodecId::exact) return;
        slowest_us = std::max(slowest_us, encode_us(tuning, codec, 1, beyond_caches) +
                                              decode_us(tuning, codec, 1, beyond_caches) +
                                              add_us(tuning, codec, 1, beyond_caches));
    };
    for (const VertexChoice& choice : spec.choices) take(choice.codec);
    take(spec.down_codec);
    return slowest_us;
}

}  // namespace

double phase_link_us(const Tree& tree, const Tuning& tuning, int vertex, double wire_bytes) {
    return part_us(tree, vertex, wire_bytes, link_figures(tree, tuning, vertex));
}

PhaseShape phase_shape(Exchange exchange, int degree) {
    return {round_count(exchange, degree), senders_at_once(exchange, degree),
            times_least_bytes(exchange, degree)};
}

double phase_us(const Tree& tree, const Tuning& tuning, int vertex, const PhaseShape& shape,
                double wire_bytes) {
    const LinkFigures link = link_figures(tree, tuning, vertex);
    return shape.rounds * link.latency_us +
           part_us(tree, vertex, wire_bytes * shape.times_least_bytes, link) *
               many_senders_factor(tree, tuning, vertex, shape.senders);
}

double phase_us(const Tree& tree, const Tuning& tuning, int vertex, Exchange exchange,
                double wire_bytes) {
    const int degree = static_cast<int>(tree.children(vertex).size());
    return phase_us(tree, tuning, vertex, phase_shape(exchange, degree), wire_bytes);
}

std::vector<double> message_latencies_us(const Tree& tree, const Tuning& tuning) {
    const std::vector<double> climbs = climb_latencies_us(tree, tuning);
    std::vector<double> latencies(climbs.size(), 0.0);
    for (const int vertex : tree.inner_vertices())
        for (const int child : tree.children(vertex)) {
            double& latency = latencies[static_cast<std::size_t>(vertex)];
            latency = std::max(latency, 2 * climbs[static_cast<std::size_t>(child)]);
        }
    return latencies;
}

double Pipeline::total_us(double vector_bytes, std::int64_t chunks, int in_flight) const {
    const double chunk_bytes = vector_bytes / static_cast<double>(chunks);
    ChunkFlow flow;
    flow.core_us = core_us + core_us_per_byte * chunk_bytes;
    flow.link_us = step_latency_us + step_us_per_byte * chunk_bytes;
    flow.first_us = fill_latency_us + fill_us_per_byte * chunk_bytes + flow.core_us;
    flow.in_flight = in_flight;
    return flow.total_us(static_cast<double>(chunks - 1));
}

std::int64_t Pipeline::best_chunk_count(double vector_bytes, std::int64_t max_chunks,
                                        int in_flight) const {
    std::int64_t best = 1;
    while (2 * best <= max_chunks && total_us(vector_bytes, 2 * best, in_flight) <
                                         (1 - least_gain) * total_us(vector_bytes, best, in_flight))
        best *= 2;
    return best;
}

Pipeline pipeline_of(const Tree& tree, const Tuning& tuning, const PlanSpec& spec) {
    Pipeline pipeline;
    for (const LevelTime& level : level_times(tree, tuning, spec)) {
        pipeline.fill_latency_us += 2 * level.latency_us;
        pipeline.step_latency_us = std::max(pipeline.step_latency_us, level.latency_us);
        pipeline.fill_us_per_byte += level.us_per_byte;
        pipeline.core_us += level.messages * tuning.message_us;
    }
    pipeline.step_us_per_byte = busiest_link_us_per_byte(tree, tuning, spec);
    pipeline.core_us_per_byte = codec_us_per_byte(tuning, spec);
    return pipeline;
}

}  // namespace gradcoll
