// collectives/predict/forecast.cpp - what bounds a call, the time of one through shared memory, and
// exchanges among all ranks that know nothing of the tree.
#include "collectives/predict/forecast.hpp"

#include <algorithm>

#include "base/index.hpp"
#include "collectives/predict/links.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

Forecast of_links(const Tree& tree, const Tuning& tuning, std::vector<double> bytes_on_links) {
    Forecast forecast;
    forecast.bytes_on_links = std::move(bytes_on_links);
    const BusiestLink busiest = busiest_link(tree, tuning, forecast.bytes_on_links);
    forecast.slowest_link = busiest.vertex;
    forecast.slowest_link_us = busiest.us;
    return forecast;
}

/// Returns the forecast of a call in one piece: nothing overlaps.
Forecast in_one_piece(Forecast forecast, const TimeParts& parts) {
    static_cast<TimeParts&>(forecast) = parts;
    forecast.total_us = parts.sum_us();
    forecast.bound = bound_of(parts);
    forecast.core_total_us = parts.core_us;
    return forecast;
}

/// Returns the codec's time on a core, which encodes and adds up on the way up, and decodes on the
/// way down. Caches are ignored: vectors that are compared in this way are long.
double codec_us(const Tuning& tuning, const PlanSpec& call, CodecId codec, double elems) {
    const double bytes = elems * call.elem_bytes;
    return add_us(tuning, codec, bytes, beyond_caches) +
           encode_us(tuning, codec, bytes, beyond_caches) +
           decode_us(tuning, codec, bytes, beyond_caches);
}

}  // namespace

std::string_view name_of(Bound bound) {
    constexpr std::string_view names[] = {"link", "core", "latency", "chunks in flight"};
    return names[static_cast<std::size_t>(bound)];
}

Bound bound_of(const TimeParts& parts) {
    if (parts.link_us >= parts.core_us && parts.link_us >= parts.latency_us) return Bound::link;
    return parts.core_us >= parts.latency_us ? Bound::core : Bound::latency;
}

double shared_memory_passes(int rank_count) {
    return rank_count == 2 ? 2 : 3 - 1 / static_cast<double>(rank_count);
}

Forecast forecast_shared_memory(const Tuning& tuning, int rank_count, std::int64_t vector_bytes,
                                bool in_place) {
    Forecast forecast;
    if (rank_count < 2 || vector_bytes == 0) return forecast;
    const auto bytes = static_cast<double>(vector_bytes);
    const double crowd = ranks_a_core(tuning, rank_count);
    const double rounds = rank_count == 2 ? 1 : 2;
    forecast.working_set_bytes = bytes * rank_count * (in_place ? 1 : 2);
    const double speed = tuning.host_pass.gbytes_per_s.at(forecast.working_set_bytes);
    forecast.link_us = crowd * shared_memory_passes(rank_count) * bytes / (speed * 1e3);
    forecast.latency_us = rounds * (tuning.host_pass.latency_us + (crowd > 1 ? tuning.turn_us : 0));
    forecast.core_total_us = forecast.link_us;
    forecast.total_us = forecast.sum_us();
    forecast.bound = bound_of(forecast);
    return forecast;
}

Forecast forecast_flat_ring(const Tree& tree, const Tuning& tuning, std::span<const int> order,
                            const PlanSpec& call, CodecId codec) {
    const auto ranks = static_cast<double>(order.size());
    const double elems = static_cast<double>(call.count_elems) / ranks;
    const double rounds = ranks - 1;
    const double bytes = 2 * rounds * wire_bytes(call, codec, elems);
    std::vector<double> up(at(tree.vertex_count()), 0.0);
    std::vector<double> down = up;
    double latency_us = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        double way_us = 0;
        visit_links_between(tree, order[i], order[(i + 1) % order.size()],
                            [&](int vertex, bool goes_up) {
                                (goes_up ? up : down)[at(vertex)] += bytes;
                                way_us += uplink_figures(tree, tuning, vertex).latency_us;
                            });
        latency_us = std::max(latency_us, way_us);
    }
    for (std::size_t id = 0; id < up.size(); ++id) up[id] = std::max(up[id], down[id]);
    Forecast forecast = of_links(tree, tuning, std::move(up));
    const double round_core_us = codec_us(tuning, call, codec, elems) + 4 * tuning.message_us;
    const double link_us = forecast.slowest_link_us;
    return in_one_piece(std::move(forecast),
                        {link_us, rounds * round_core_us, 2 * rounds * latency_us});
}

Forecast forecast_flat_direct(const Tree& tree, const Tuning& tuning, const PlanSpec& call,
                              CodecId codec) {
    const auto ranks = static_cast<double>(tree.rank_count());
    const double elems = static_cast<double>(call.count_elems) / ranks;
    const double bytes = 2 * wire_bytes(call, codec, elems);
    std::vector<double> links(at(tree.vertex_count()), 0.0);
    for (int id = 1; id < tree.vertex_count(); ++id) {
        const auto leaves = static_cast<double>(tree.vertex(id).leaf_count);
        links[at(id)] = leaves * (ranks - leaves) * bytes;
    }
    Forecast forecast = of_links(tree, tuning, std::move(links));
    const double others = ranks - 1;
    const double link_us =
        forecast.slowest_link_us * bounded_senders_factor(tree, tuning, tree.root(), others);
    const double core_us =
        codec_us(tuning, call, codec, elems * others) + 4 * others * tuning.message_us;
    const double way_up_us = climb_latencies_us(tree, tuning).front();
    return in_one_piece(std::move(forecast), {link_us, core_us, 4 * way_up_us});
}

}  // namespace gradcoll
