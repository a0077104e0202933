// collectives/predict/forecast.hpp - predicts how long a call takes, what bounds it, and which link
// is the slowest. One model (model.hpp) serves the policy, gradcoll plan --what-if, and the
// predictions in traces and explanations. It is for comparing ways to do the same thing, not for
// promises. Pure.
//
// The model: a link carries what ownership puts on it, in both directions at once. A message takes
// the latencies of all links on its way. A rank encodes, decodes and sums on one core. If the
// tuning knows how many cores a host has, they copy the bytes that move inside the host, and ranks
// that outnumber them take turns. The levels of one chunk follow each other (the longest way from a
// leaf to the root and back counts); each further chunk takes what ChunkFlow says. Other traffic
// and ranks that start late are not modelled.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// A Bound says what takes most of the time.
enum class Bound : std::uint8_t {
    link,       ///< the bytes on one link
    core,       ///< encoding, decoding and summing on one rank, and handling its messages
    latency,    ///< messages that wait for each other
    in_flight,  ///< chunks that wait for the ones under way
};
std::string_view name_of(Bound bound);

/// TimeParts are the parts of a time.
struct TimeParts {
    double link_us = 0;     ///< bytes on links, or copied by cores
    double core_us = 0;     ///< codecs, sums, messages
    double latency_us = 0;  ///< messages on their way, and ranks that wait for a core

    double sum_us() const { return link_us + core_us + latency_us; }
    TimeParts operator+(const TimeParts& other) const {
        return {link_us + other.link_us, core_us + other.core_us, latency_us + other.latency_us};
    }
};
/// Returns the bound for the largest part.
Bound bound_of(const TimeParts& parts);

/// A LevelForecast is for the exchanges of one level, both phases, on the way of one chunk, at the
/// vertex where they take longest.
struct LevelForecast : TimeParts {
    int vertex = -1;
};

/// A Forecast is that of a call; its time parts are those of the first chunk, on its longest way.
struct Forecast : TimeParts {
    double total_us = 0;
    std::int64_t chunks = 1;
    Bound bound = Bound::link;
    int slowest_link = -1;  ///< the vertex whose uplink is busy longest; -1: one rank, or no links
    double slowest_link_us = 0;  ///< time that it is busy in the whole call, in each direction
    double core_total_us = 0;    ///< time that the busiest core works in the whole call
    std::vector<double> bytes_on_links;  ///< by vertex: over its uplink in the call, in each
                                         ///< direction
    std::vector<LevelForecast> levels;   ///< for the first chunk; index: height - 1; only for trees
    double working_set_bytes = 0;        ///< for the largest host; cached speeds depend on it
};

// ---- a whole call

/// Returns whether the model knows how the plans of the spec's builder run: those of flexreduce.
bool is_predicted(const PlanSpec& spec);

/// Predicts a call by `spec` (checked: see Planner). Returns only zeros unless is_predicted(spec).
/// Time: linear in vertices.
Forecast forecast_tree(const Tree& tree, const Tuning& tuning, const PlanSpec& spec,
                       int chunks_in_flight = usual_chunks_in_flight);

/// Predicts a ring through the ranks in this order (each once), which knows nothing of the tree,
/// over its links. The codec is used on every message up; its encoding is forwarded on the way
/// down. Time: ranks times height.
Forecast forecast_flat_ring(const Tree& tree, const Tuning& tuning, std::span<const int> order,
                            const PlanSpec& call, CodecId codec);
/// Predicts an exchange of every rank with every other at once, which knows nothing of the tree.
Forecast forecast_flat_direct(const Tree& tree, const Tuning& tuning, const PlanSpec& call,
                              CodecId codec);

/// Predicts an exact allreduce through memory that the ranks of one host share. Each rank passes
/// over the vector with its core: two ranks copy it in and combine it; more ranks copy all but
/// their own share in, combine their share of all, and copy the result out. Ranks that share a core
/// do so one after another, and wait for their turns.
Forecast forecast_shared_memory(const Tuning& tuning, int rank_count, std::int64_t vector_bytes,
                                bool in_place = false);
/// Returns how often each rank's core then passes over the vector.
double shared_memory_passes(int rank_count);

// ---- coarse predictions, for choices that are made before there is a spec to forecast. Each
// vertex is seen by itself: the slowest link below it counts.

/// Returns the time of the bytes of one phase on the slowest link between `vertex` and its
/// branches, without latencies and losses. Each branch's uplink carries wire_bytes * (degree - 1) /
/// degree.
double phase_link_us(const Tree& tree, const Tuning& tuning, int vertex, double wire_bytes);

/// A PhaseShape describes one phase of an exchange for the model.
struct PhaseShape {
    int rounds = 1;
    int senders = 1;               ///< branches that send to one at once
    double times_least_bytes = 1;  ///< see exchange.hpp
};
PhaseShape phase_shape(Exchange exchange, int degree);

/// Returns the time of one phase (reduce-scatter or allgather) at one vertex for a vector that
/// takes `wire_bytes` in the codec used. The loss by many senders is not bounded here
/// (Tuning::most_incast_loss): in doubt it counts against direct exchange between many branches.
double phase_us(const Tree& tree, const Tuning& tuning, int vertex, const PhaseShape& shape,
                double wire_bytes);
/// Returns the time of an exchange's way up.
double phase_us(const Tree& tree, const Tuning& tuning, int vertex, Exchange exchange,
                double wire_bytes);

/// Returns the latency of a message between two branches of each vertex: all links from a rank up
/// to the vertex and down to another rank. Index: vertex id; 0 for leaves.
std::vector<double> message_latencies_us(const Tree& tree, const Tuning& tuning);

/// A Pipeline is a model of an allreduce: the first chunk takes the sum over the levels, both
/// phases; while it is on one level, others are on the others, and each further chunk adds either
/// the time that the busiest link needs for it plus the latency in which that link waits for the
/// next chunk's messages (they leave when the ones before have arrived), or the time of its
/// messages and codecs on a rank's core. Times are linear in the bytes of a chunk (of the vector as
/// the user sees it): latency + bytes * time a byte. So one look at the tree answers for every
/// number of chunks.
struct Pipeline {
    double fill_latency_us = 0;  ///< for one chunk through all levels
    double fill_us_per_byte = 0;
    double step_latency_us = 0;  ///< for each further chunk
    double step_us_per_byte = 0;
    double core_us = 0;           ///< for each chunk on a rank's core: its messages ...
    double core_us_per_byte = 0;  ///< ... and its codecs

    /// Returns the time of a vector in equal chunks. `in_flight`: chunks that are under way at a
    /// time.
    double total_us(double vector_bytes, std::int64_t chunks, int in_flight) const;
    /// Returns the fewest chunks, a power of two up to max_chunks, for which twice as many would
    /// gain less than a hundredth: the figures are not more exact than that.
    std::int64_t best_chunk_count(double vector_bytes, std::int64_t max_chunks,
                                  int in_flight) const;
};

/// Makes the pipeline for the codecs and links that the choices of `spec` give, with direct
/// exchanges. Time: linear in vertices.
Pipeline pipeline_of(const Tree& tree, const Tuning& tuning, const PlanSpec& spec);

}  // namespace gradcoll
