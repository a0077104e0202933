// collectives/predict/pipeline.hpp - how chunks flow through the levels of a tree whose links are
// known: what one chunk takes, and what each further one adds. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Whether the tree says how fast any of its links is. Where it does not (inside one host, most
/// often), chunks and exchanges are chosen by what was measured on shared memory, and messages are
/// not paced.
bool knows_links(const Tree& tree);

/// Whether anything on the way up or down is encoded with loss.
bool is_lossy(const PlanSpec& spec);

/// An allreduce as a pipeline: a chunk takes the sum over the levels, both phases; while it is on
/// one level, others are on the others, and each further chunk adds what the busiest link needs for
/// it and the latency in which that link waits for the next
/// chunk's messages (they leave when the ones before have arrived), or what its messages and codecs
/// take on a rank's core. Times are linear in the bytes of a chunk (of the vector as the user sees
/// it): latency + bytes * time a byte.
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

/// The latency of a message between two branches of `vertex`: all links from a rank up to it and
/// down to another. Index: vertex id; 0 for leaves.
std::vector<double> message_latencies_us(const Tree& tree, const Tuning& tuning);

}  // namespace gradcoll
