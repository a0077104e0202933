// collectives/choose/short_vectors.hpp - finds plans for vectors that wait for messages more than
// for bytes: single exchanges at the highest levels, levels merged with those above, all in one
// piece; and the length below which the MPI library, which sends fewer messages, is faster than any
// of them. Pure; uses only facts that all ranks share, so all choose the same.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

struct ShortVectorRules {
    /// Returns whether the choice of a vertex may be changed.
    std::function<bool(int vertex)> is_free;
    bool may_be_whole = true;  ///< whether the chunks may be given up: the user did not ask for
                               ///< them
    int chunks_in_flight = usual_chunks_in_flight;
    const Tuning* tuning = nullptr;
};

/// A ShortVectorChange is a change that made the call shorter.
struct ShortVectorChange {
    enum class Kind : std::uint8_t {
        single_exchanges,  ///< from `level` up
        merged_level       ///< `level` is merged with those above, which exchange as `above` says
    };
    Kind kind = Kind::single_exchanges;
    int level = 0;
    Exchange above = Exchange::single;
    double us = 0;
    double before_us = 0;
};

struct ShortVectorPlan {
    PlanSpec spec;
    std::vector<ShortVectorChange> changes;  ///< one after another; empty: nothing is gained
};

/// Changes a plan if the forecast (forecast.hpp) says that it pays. All changes together must make
/// the call shorter by `short_vector_least_gain`: since the forecast counts the busiest link's
/// bytes, that link never carries more than the gained latency pays for. Only vertices that connect
/// hosts are changed (ranks of a host have their own ways through shared memory), and merging needs
/// links that the tree knows. Trees of more than `short_vector_most_vertices` stay unchanged, since
/// looking would take long. Time: linear in vertices, times the height of the tree.
ShortVectorPlan for_short_vector(const Tree& tree, const PlanSpec& spec,
                                 const ShortVectorRules& rules);
inline constexpr double short_vector_least_gain = 0.08;
inline constexpr int short_vector_most_vertices = 1 << 15;

/// This holds if nothing is known of links between hosts, or they are fast.
inline constexpr std::uint64_t usual_least_tree_bytes = 256 << 10;
/// This holds if switches and slow links between hosts are known (docs/benchmarks.md, "Short or
/// long").
inline constexpr std::uint64_t slow_links_least_tree_bytes = 64 << 10;
/// A link of this rate carries slow_links_least_tree_bytes in the time of a few messages.
inline constexpr double slow_link_gbytes_per_s = 1;

std::uint64_t least_tree_bytes_on(const Tree& tree);

}  // namespace gradcoll
