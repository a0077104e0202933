// collectives/predict/tree_forecast.cpp - predicts a call over the tree: one chunk's way, then the
// chunks behind it.
#include <algorithm>

#include "collectives/build/merge.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/links.hpp"
#include "collectives/predict/model.hpp"
#include "collectives/predict/tree_walk.hpp"

namespace gradcoll {
namespace {

/// Returns the levels of a tree with merged vertices as those of the given tree.
std::vector<LevelForecast> in_given_tree(const Tree& tree, const PlannedTree& planned,
                                         const std::vector<LevelForecast>& levels) {
    if (!planned.has_merged()) return levels;
    std::vector<LevelForecast> given(static_cast<std::size_t>(tree.height()));
    for (LevelForecast level : levels) {
        level.vertex = planned.given_vertex(level.vertex);
        LevelForecast& known =
            given[static_cast<std::size_t>(tree.vertex(level.vertex).height - 1)];
        if (known.vertex < 0 || level.sum_us() > known.sum_us()) known = level;
    }
    return given;
}

/// Returns what holds every further chunk up; with less than one further chunk, what bounds the
/// first.
Bound bound_of(const ChunkFlow& flow, double further, const TimeParts& first) {
    if (further < 1) return bound_of(first);
    if (flow.further_us() == flow.link_us) return Bound::link;
    return flow.further_us() == flow.core_us ? Bound::core : Bound::in_flight;
}

}  // namespace

bool is_predicted(const PlanSpec& spec) {
    return spec.builder == Builder::flexreduce;
}

Forecast forecast_tree(const Tree& tree, const Tuning& tuning, const PlanSpec& spec,
                       int chunks_in_flight) {
    Forecast forecast;
    if (!is_predicted(spec)) {
        forecast.bytes_on_links.assign(static_cast<std::size_t>(tree.vertex_count()), 0.0);
        return forecast;
    }
    forecast.bytes_on_links = expected_on_uplinks(tree, spec);
    if (spec.count_elems == 0 || tree.rank_count() == 1) return forecast;
    const std::int64_t chunk =
        spec.chunk_elems == 0 ? spec.count_elems : std::min(spec.chunk_elems, spec.count_elems);
    forecast.chunks = (spec.count_elems + chunk - 1) / chunk;
    // The last chunk may be shorter: it counts as a part of a chunk.
    const double further = static_cast<double>(spec.count_elems) / static_cast<double>(chunk) - 1;
    const double chunks = further + 1;

    const PlannedTree planned(tree, spec);
    const TreeWalk walk(planned.tree(), planned.spec(), tuning, static_cast<double>(chunk));
    static_cast<TimeParts&>(forecast) = walk.longest_way();
    forecast.levels = in_given_tree(tree, planned, walk.levels());
    forecast.working_set_bytes = walk.largest_working_set_bytes();
    forecast.core_total_us = walk.busiest_core_us() * chunks;
    // The given tree counts here: merged vertices have links, too.
    const BusiestLink busiest = busiest_link(tree, tuning, forecast.bytes_on_links);
    forecast.slowest_link = busiest.vertex;
    forecast.slowest_link_us = busiest.us;

    const ChunkFlow flow{forecast.sum_us(), busiest.us / chunks, walk.busiest_core_us(),
                         static_cast<double>(chunks_in_flight)};
    forecast.total_us = flow.total_us(further);
    forecast.bound = bound_of(flow, further, forecast);
    return forecast;
}

}  // namespace gradcoll
