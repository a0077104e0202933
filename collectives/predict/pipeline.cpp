// collectives/predict/pipeline.cpp - how chunks flow through the levels of a tree whose links are
// known.
#include "collectives/predict/pipeline.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "collectives/predict/cost.hpp"
#include "collectives/predict/links.hpp"

namespace gradcoll {
namespace {

constexpr double least_gain = 0.01;

/// What the ranks below a vertex can send out of it together, its own uplink included: each carries
/// an equal part, so the slowest branch counts. Vertices come after their parents.
std::vector<double> outlets_gbytes_per_s(const Tree& tree, const Tuning& tuning) {
    std::vector<double> outlets(static_cast<std::size_t>(tree.vertex_count()));
    for (int vertex = tree.vertex_count() - 1; vertex > 0; --vertex) {
        double inner = std::numeric_limits<double>::infinity();
        for (const int child : tree.children(vertex))
            inner = std::min(inner, outlets[static_cast<std::size_t>(child)]);
        if (!tree.is_leaf(vertex)) inner *= static_cast<double>(tree.children(vertex).size());
        outlets[static_cast<std::size_t>(vertex)] =
            std::min(uplink_figures(tree, tuning, vertex).gbytes_per_s, inner);
    }
    return outlets;
}

/// Bytes on the wire for one of the vector, both phases together.
double wire_part(const PlanSpec& spec, const VertexChoice& choice) {
    const auto one_block = static_cast<std::size_t>(lossy_block_elems);
    const CodecId down = choice.codec == CodecId::exact ? CodecId::exact : spec.down_codec;
    const auto bytes = static_cast<double>(encoded_bytes(choice.codec, spec.elem_bytes, one_block) +
                                           encoded_bytes(down, spec.elem_bytes, one_block));
    return bytes / static_cast<double>(one_block * spec.elem_bytes);
}

struct LevelTime {
    double latency_us = 0;   ///< of one phase
    double us_per_byte = 0;  ///< of both
    double messages = 0;     ///< that a rank sends and receives, of both
};

/// By height of the vertices; the slowest one of a height counts.
std::vector<LevelTime> level_times(const Tree& tree, const Tuning& tuning, const PlanSpec& spec) {
    const std::vector<double> outlets = outlets_gbytes_per_s(tree, tuning);
    const std::vector<double> latencies = message_latencies_us(tree, tuning);
    std::vector<LevelTime> levels(static_cast<std::size_t>(tree.height()));
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
        if (tree.is_leaf(vertex)) continue;
        double outlet = std::numeric_limits<double>::infinity();
        for (const int child : tree.children(vertex))
            outlet = std::min(outlet, outlets[static_cast<std::size_t>(child)]);
        const auto degree = static_cast<double>(tree.children(vertex).size());
        const double part = wire_part(spec, spec.choices.of(vertex)) * (degree - 1) / degree;
        LevelTime& level = levels[static_cast<std::size_t>(tree.vertex(vertex).height - 1)];
        level.latency_us = std::max(level.latency_us, latencies[static_cast<std::size_t>(vertex)]);
        level.us_per_byte = std::max(level.us_per_byte, part / (outlet * 1e3));
        level.messages = std::max(level.messages, 4 * (degree - 1));
    }
    return levels;
}

/// Of one byte of the vector.
double busiest_link_us_per_byte(const Tree& tree, const Tuning& tuning, PlanSpec spec) {
    constexpr double elems = 1 << 20;
    spec.count_elems = static_cast<std::int64_t>(elems);
    spec.chunk_elems = 0;
    const std::vector<double> bytes = expected_on_uplinks(tree, spec);
    double busiest = 0;
    for (int vertex = 1; vertex < tree.vertex_count(); ++vertex)
        busiest = std::max(busiest, bytes[static_cast<std::size_t>(vertex)] /
                                        uplink_figures(tree, tuning, vertex).gbytes_per_s);
    return busiest / 1e3 / (elems * spec.elem_bytes);
}

/// Each element of a lossy allreduce passes a codec three times on a rank: encoded and summed on
/// the way up, decoded on the way down. The slowest codec counts.
double codec_us_per_byte(const Tuning& tuning, const PlanSpec& spec) {
    double slowest = 0;
    const auto take = [&](CodecId codec) {
        if (codec == CodecId::exact) return;
        const CodecSpeed& speed = tuning.of(codec);
        slowest = std::max(slowest, 1 / speed.encode.in_memory() + 1 / speed.decode.in_memory() +
                                        1 / speed.decode_sum.in_memory());
    };
    for (const VertexChoice& choice : spec.choices) take(choice.codec);
    take(spec.down_codec);
    return slowest / 1e3;
}

}  // namespace

bool is_lossy(const PlanSpec& spec) {
    return spec.down_codec != CodecId::exact ||
           std::any_of(spec.choices.begin(), spec.choices.end(),
                       [](const VertexChoice& each) { return each.codec != CodecId::exact; });
}

bool knows_links(const Tree& tree) {
    for (int vertex = 1; vertex < tree.vertex_count(); ++vertex)
        if (tree.vertex(vertex).uplink.bandwidth_gbytes_per_s > 0) return true;
    return false;
}

double Pipeline::total_us(double vector_bytes, std::int64_t chunks, int in_flight) const {
    const double chunk_bytes = vector_bytes / static_cast<double>(chunks);
    const double on_core_us = core_us + core_us_per_byte * chunk_bytes;
    const double fill_us = fill_latency_us + fill_us_per_byte * chunk_bytes + on_core_us;
    const double step_us = std::max(
        {step_latency_us + step_us_per_byte * chunk_bytes, on_core_us, fill_us / in_flight});
    return fill_us + static_cast<double>(chunks - 1) * step_us;
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

std::vector<double> message_latencies_us(const Tree& tree, const Tuning& tuning) {
    std::vector<double> to_rank(static_cast<std::size_t>(tree.vertex_count()), 0.0);
    for (int vertex = tree.vertex_count() - 1; vertex > 0; --vertex) {
        double& above = to_rank[static_cast<std::size_t>(tree.vertex(vertex).parent)];
        above = std::max(above, to_rank[static_cast<std::size_t>(vertex)] +
                                    uplink_figures(tree, tuning, vertex).latency_us);
    }
    for (double& each : to_rank) each *= 2;
    return to_rank;
}

}  // namespace gradcoll
