// collectives/predict/forecast.hpp - how long a call should take, what bounds it, and which link is
// the slowest: finer than cost.hpp, for questions and predictions and not for the policy. Pure.
//
// The model. A link carries what ownership puts on it, in both directions at once. A message takes
// the latencies of all links on its way. A rank encodes, decodes and sums on one core. Where the
// tuning knows how many cores a host has, bytes that move inside the host are copied by them, and
// ranks that outnumber them take turns. The levels of one chunk follow each other (the longest way
// from a leaf to the root and back counts); each further chunk takes what the busiest link or core
// needs for it, or a part of a chunk's whole way if too few may be under way at a time. Not in it:
// other traffic, ranks that start late.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// What takes most of the time.
enum class Bound : std::uint8_t {
    link,       ///< the bytes on one link
    core,       ///< encoding, decoding and summing on one rank, and handling its messages
    latency,    ///< messages that wait for each other
    in_flight,  ///< chunks that wait for the ones under way
};
std::string_view name_of(Bound bound);

/// The exchanges of one level on the way of one chunk, both phases, at the vertex where they take
/// longest.
struct LevelForecast {
    int vertex = -1;
    double link_us = 0;     ///< bytes on links, or copied by cores
    double core_us = 0;     ///< codecs, sums, messages
    double latency_us = 0;  ///< messages on their way, and ranks that wait for a core
    double sum_us() const { return link_us + core_us + latency_us; }
};

struct Forecast {
    double total_us = 0;
    std::int64_t chunks = 1;
    Bound bound = Bound::link;
    double link_us = 0;     ///< of total: what bytes take on the longest way of the first chunk
    double core_us = 0;     ///< the same, what codecs, sums and messages take on cores
    double latency_us = 0;  ///< the same, latencies
    int slowest_link = -1;  ///< the vertex whose uplink is busy longest; -1: one rank
    double slowest_link_us = 0;          ///< how long it is busy in the whole call, each direction
    double core_total_us = 0;            ///< how long the busiest core works in the whole call
    std::vector<double> bytes_on_links;  ///< by vertex: over its uplink in the call, each direction
    std::vector<LevelForecast> levels;   ///< of the first chunk; index: height - 1. Trees only
    double working_set_bytes = 0;        ///< of the largest host; what cached speeds depend on
};

/// A call by `spec` (checked: see Planner). Time: linear in vertices.
Forecast forecast_tree(const Tree& tree, const Tuning& tuning, const PlanSpec& spec,
                       int chunks_in_flight = usual_chunks_in_flight);

/// Exchanges among all ranks that know nothing of the tree, over its links.
class FlatForecaster {
  public:
    /// Time: ranks times height.
    /// Keeps a reference to the tree.
    FlatForecaster(const Tree& tree, const Tuning& tuning);

    /// A ring through the ranks in this order (each once). The codec is used on every message up,
    /// its encoding is forwarded on the way down.
    Forecast ring(std::span<const int> order, const PlanSpec& call, CodecId codec) const;
    /// Every rank with every other at once.
    Forecast direct(const PlanSpec& call, CodecId codec) const;

  private:
    Forecast of_links(const std::vector<double>& bytes_up,
                      const std::vector<double>& bytes_down) const;

    const Tree& tree_;
    Tuning tuning_;
};

}  // namespace gradcoll
