// collectives/choose/chunk_choice.hpp - granule and chunk of a call. Pure.
//
// Automatic chunks where the tree knows its links: as Pipeline (predict/forecast.hpp) says.
// Elsewhere they are the tuning's. With several levels, chunks keep all of them at work at once.
// With one there is nothing to overlap: large chunks only bound the scratch memory
// (docs/benchmarks.md, "Chunks").
#pragma once

#include <cstdint>

#include "collectives/choose/options.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// A chunk has at least so many granules for each rank, or shares would be too unequal. Where links
/// are known and granules are blocks of codecs, one is enough: levels that wait for each other cost
/// more than unequal shares (docs/simgrid.md).
inline constexpr std::int64_t min_granules_per_rank = 4;
/// That or 1, by the granule of `spec`.
std::int64_t least_granules_per_rank(const PlanSpec& spec);
/// Nor has an automatic one less than this, encoded, where links are known: every message between
/// hosts takes a core's time on its way, which shorter ones do not hide (docs/benchmarks.md,
/// "Chunks").
inline constexpr std::int64_t least_linked_chunk_bytes = 64 << 10;
/// Exact ranges are cut at cache lines.
inline constexpr std::int64_t exact_granule_bytes = 64;

std::int64_t granule_for(const PlanSpec& spec);

/// `spec` with its granule and choices. 0: the whole vector in one piece.
std::int64_t chunk_for(const Tree& tree, const PlanSpec& spec, const PolicyOptions& options);

/// A plan that would have more pieces because of cuts takes more than 10 ms to make
/// (docs/benchmarks.md, "Plans").
inline constexpr double most_cut_pieces_of_a_plan = 4096;
/// Of a chunk where they are dealt: shares are equal to a part in so many.
inline constexpr std::int64_t dealt_granules = 512;

/// Where overlays would cut too finely for a plan, the spec's granules become coarse, its chunks
/// multiples of them, and ownership is dealt. After the chunk was chosen.
void deal_where_cut_too_finely(const Tree& tree, PlanSpec& spec);

}  // namespace gradcoll
