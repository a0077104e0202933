// collectives/predict/forecast.hpp - how long a call should take, what bounds it, and which link is
// the slowest. One model (model.hpp) for all who ask: the policy, gc_plan --what-if, the
// predictions in traces and explanations. For comparing ways to do the same thing, not for
// promises. Pure.
//
// The model. A link carries what ownership puts on it, in both directions at once. A message takes
// the latencies of all links on its way. A rank encodes, decodes and sums on one core. Where the
// tuning knows how many cores a host has, bytes that move inside the host are copied by them, and
// ranks that outnumber them take turns. The levels of one chunk follow each other (the longest way
// from a leaf to the root and back counts); each further chunk takes what ChunkFlow says. Not in
// it: other traffic, ranks that start late.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
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

/// What a time is made of.
struct TimeParts {
    double link_us = 0;     ///< bytes on links, or copied by cores
    double core_us = 0;     ///< codecs, sums, messages
    double latency_us = 0;  ///< messages on their way, and ranks that wait for a core

    double sum_us() const { return link_us + core_us + latency_us; }
    TimeParts operator+(const TimeParts& other) const {
        return {link_us + other.link_us, core_us + other.core_us, latency_us + other.latency_us};
    }
};
/// The largest.
Bound bound_of(const TimeParts& parts);

/// The exchanges of one level on the way of one chunk, both phases, at the vertex where they take
/// longest.
struct LevelForecast : TimeParts {
    int vertex = -1;
};

/// Its time parts are those of the first chunk, on its longest way.
struct Forecast : TimeParts {
    double total_us = 0;
    std::int64_t chunks = 1;
    Bound bound = Bound::link;
    int slowest_link = -1;  ///< the vertex whose uplink is busy longest; -1: one rank, or no links
    double slowest_link_us = 0;          ///< how long it is busy in the whole call, each direction
    double core_total_us = 0;            ///< how long the busiest core works in the whole call
    std::vector<double> bytes_on_links;  ///< by vertex: over its uplink in the call, each direction
    std::vector<LevelForecast> levels;   ///< of the first chunk; index: height - 1. Trees only
    double working_set_bytes = 0;        ///< of the largest host; what cached speeds depend on
};

// ---- a whole call

/// Whether the model knows how the plans of the spec's builder run: those of flexreduce.
bool is_predicted(const PlanSpec& spec);

/// A call by `spec` (checked: see Planner). Nothing but zeros unless is_predicted(spec). Time:
/// linear in vertices.
Forecast forecast_tree(const Tree& tree, const Tuning& tuning, const PlanSpec& spec,
                       int chunks_in_flight = usual_chunks_in_flight);

/// Exchanges among all ranks that know nothing of the tree, over its links: a ring through the
/// ranks in this order (each once). The codec is used on every message up, its encoding is
/// forwarded on the way down. Time: ranks times height.
Forecast forecast_flat_ring(const Tree& tree, const Tuning& tuning, std::span<const int> order,
                            const PlanSpec& call, CodecId codec);
/// The same, every rank with every other at once.
Forecast forecast_flat_direct(const Tree& tree, const Tuning& tuning, const PlanSpec& call,
                              CodecId codec);

/// An exact allreduce through memory that the ranks of one host share. Each rank passes over the
/// vector with its core: two ranks copy it in and combine it, more copy all but their own share in,
/// combine their share of all, and copy the result out. Ranks that share a core do so one after
/// another, and wait for their turns.
Forecast forecast_shared_memory(const Tuning& tuning, int rank_count, std::int64_t vector_bytes,
                                bool in_place = false);
/// How often each rank's core passes over the vector then.
double shared_memory_passes(int rank_count);

// ---- coarse, for choices that are made before there is a spec to forecast. Each vertex is seen by
// itself: the slowest link below it counts.

/// What the bytes of one phase take on the slowest link between `vertex` and its branches, without
/// latencies and losses. Each branch's uplink carries wire_bytes * (degree - 1) / degree.
double phase_link_us(const Tree& tree, const Tuning& tuning, int vertex, double wire_bytes);

/// What one phase of an exchange is, for the model.
struct PhaseShape {
    int rounds = 1;
    int senders = 1;               ///< at once to one branch
    double times_least_bytes = 1;  ///< exchange.hpp
};
PhaseShape phase_shape(Exchange exchange, int degree);

/// Time of one phase (reduce-scatter or allgather) at one vertex for a vector that takes
/// `wire_bytes` in the codec used. The loss by many senders is not bounded here
/// (Tuning::most_incast_loss): in doubt against direct exchange between many branches.
double phase_us(const Tree& tree, const Tuning& tuning, int vertex, const PhaseShape& shape,
                double wire_bytes);
/// Of an exchange's way up.
double phase_us(const Tree& tree, const Tuning& tuning, int vertex, Exchange exchange,
                double wire_bytes);

/// The latency of a message between two branches of `vertex`: all links from a rank up to it and
/// down to another. Index: vertex id; 0 for leaves.
std::vector<double> message_latencies_us(const Tree& tree, const Tuning& tuning);

/// An allreduce as a pipeline: a chunk takes the sum over the levels, both phases; while it is on
/// one level, others are on the others, and each further chunk adds what the busiest link needs for
/// it and the latency in which that link waits for the next chunk's messages (they leave when the
/// ones before have arrived), or what its messages and codecs take on a rank's core. Times are
/// linear in the bytes of a chunk (of the vector as the user sees it): latency + bytes * time a
/// byte. So one look at the tree answers for every number of chunks.
struct Pipeline {
    double fill_latency_us = 0;  ///< of one chunk through all levels
    double fill_us_per_byte = 0;
    double step_latency_us = 0;  ///< of each further chunk
    double step_us_per_byte = 0;
    double core_us = 0;           ///< of each chunk on a rank's core: its messages ...
    double core_us_per_byte = 0;  ///< ... and its codecs

    /// Of a vector in equal chunks. `in_flight`: chunks that are under way at a time.
    double total_us(double vector_bytes, std::int64_t chunks, int in_flight) const;
    /// The fewest chunks, a power of two up to max_chunks, from where on twice as many gain less
    /// than a hundredth: figures are not that exact.
    std::int64_t best_chunk_count(double vector_bytes, std::int64_t max_chunks,
                                  int in_flight) const;
};

/// Codecs and links as the choices of `spec` make them, with direct exchanges. Time: linear in
/// vertices.
Pipeline pipeline_of(const Tree& tree, const Tuning& tuning, const PlanSpec& spec);

}  // namespace gradcoll
