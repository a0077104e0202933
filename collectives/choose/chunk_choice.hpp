// collectives/choose/chunk_choice.hpp - chooses granule and chunk of a call. Pure.
//
// If the tree knows its links, automatic chunks are as Pipeline (predict/forecast.hpp) says, else
// as the tuning says. With several levels, chunks keep all of them at work at once. With one there
// is nothing to overlap: large chunks only bound the scratch memory (docs/benchmarks.md, "Chunks").
#pragma once

#include <cstdint>

#include "collectives/choose/options.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// A chunk has at least so many granules for each rank, or shares would be too unequal. If links
/// are known and granules are blocks of codecs, one is enough: levels that wait for each other cost
/// more than unequal shares (docs/simgrid.md).
inline constexpr std::int64_t min_granules_per_rank = 4;
/// Returns min_granules_per_rank or 1, depending on the granule of `spec`.
std::int64_t least_granules_per_rank(const PlanSpec& spec);
/// If links are known, an automatic chunk has at least so many encoded bytes: every message between
/// hosts takes a core's time, which shorter ones do not hide (docs/benchmarks.md, "Chunks").
inline constexpr std::int64_t least_linked_chunk_bytes = 64 << 10;
/// Exact ranges are cut at cache lines.
inline constexpr std::int64_t exact_granule_bytes = 64;

std::int64_t granule_for(const PlanSpec& spec);

/// Returns whether codecs have something to encode in the call: of blocks they take whole granules.
/// An empty vector is long enough.
bool is_long_enough_for_codecs(const Tree& tree, const PlanSpec& spec);

/// Returns the chunk for a `spec` with its granule and choices. 0: the whole vector in one piece.
std::int64_t chunk_for(const Tree& tree, const PlanSpec& spec, const PolicyOptions& options);

/// A plan with more pieces from cuts takes more than 10 ms to make (docs/benchmarks.md, "Plans").
inline constexpr double most_cut_pieces_of_a_plan = 4096;
/// A chunk that is dealt has so many granules: shares are equal to that fraction.
inline constexpr std::int64_t dealt_granules = 512;

/// Makes the spec's granules coarse, its chunks multiples of them, and its ownership dealt, if
/// overlays would cut too finely for a plan. Called after the chunk was chosen.
void deal_where_cut_too_finely(const Tree& tree, PlanSpec& spec);

}  // namespace gradcoll
