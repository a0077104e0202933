// collectives/choose/chunk_choice.cpp - chooses granule and chunk of a call.
#include "collectives/choose/chunk_choice.hpp"

#include <algorithm>
#include <optional>

#include "base/round.hpp"
#include "collectives/plan/partition.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

std::int64_t exact_granule_elems(const PlanSpec& spec) {
    return std::max<std::int64_t>(1, exact_granule_bytes / spec.elem_bytes);
}

/// Returns the bytes of the vector where the highest branches exchange: links there are mostly
/// slowest.
double bytes_at_the_top(const Tree& tree, const PlanSpec& spec) {
    const CodecId codec = spec.choices[static_cast<std::size_t>(tree.root())].codec;
    return wire_bytes(spec, codec, static_cast<double>(spec.count_elems));
}

/// Returns, if links are known, the chunk that makes the pipeline through the levels shortest, each
/// with at least least_granules_per_rank() and least_linked_chunk_bytes. Returns 0 if one chunk is
/// best and the scratch memory can hold it.
std::int64_t pipelined_chunk(const Tree& tree, const Tuning& tuning, const PlanSpec& spec) {
    const std::int64_t granules = spec.count_elems / spec.granule_elems;
    const double bytes = static_cast<double>(spec.count_elems) * spec.elem_bytes;
    const std::int64_t most = std::min(
        granules / (least_granules_per_rank(spec) * tree.rank_count()),
        static_cast<std::int64_t>(bytes_at_the_top(tree, spec)) / least_linked_chunk_bytes);
    std::int64_t chunks =
        pipeline_of(tree, tuning, spec).best_chunk_count(bytes, most, usual_chunks_in_flight);
    const AutoChunk& bound = tuning.one_level_chunk;
    if (bytes > static_cast<double>(bound.whole_bytes)) {
        const auto bounded = static_cast<std::int64_t>(bytes) / bound.chunk_bytes;
        chunks = std::max(chunks, std::min(bounded, most));
    }
    return chunks == 1 ? 0 : divided_up(granules, chunks) * spec.granule_elems;
}

std::int64_t measured_chunk(const Tree& tree, const Tuning& tuning, const PlanSpec& spec) {
    const AutoChunk automatic =
        tree.height() > 1 ? tuning.many_level_chunk : tuning.one_level_chunk;
    if (spec.count_elems <= automatic.whole_bytes / spec.elem_bytes) return 0;
    const std::int64_t granules = automatic.chunk_bytes / spec.elem_bytes / spec.granule_elems;
    return std::max({std::int64_t{1}, granules, min_granules_per_rank * tree.rank_count()}) *
           spec.granule_elems;
}

}  // namespace

std::int64_t least_granules_per_rank(const PlanSpec& spec) {
    return spec.granule_elems > exact_granule_elems(spec) ? 1 : min_granules_per_rank;
}

std::int64_t granule_for(const PlanSpec& spec) {
    if (spec.feedback || is_lossy(spec)) return static_cast<std::int64_t>(lossy_block_elems);
    return exact_granule_elems(spec);
}

bool is_long_enough_for_codecs(const Tree& tree, const PlanSpec& spec) {
    return !is_in_blocks(spec) || spec.count_elems == 0 ||
           spec.count_elems / tree.rank_count() >= static_cast<std::int64_t>(lossy_block_elems);
}

std::int64_t chunk_for(const Tree& tree, const PlanSpec& spec, const PolicyOptions& options) {
    const Tuning& tuning = *options.tuning;
    const std::optional<std::int64_t> chunk_bytes = options.chunk_bytes;
    if (tree.rank_count() == 1 || chunk_bytes == 0) return 0;
    const std::int64_t multiple = chunk_multiple(spec, tree.rank_count());
    if (!chunk_bytes) {
        const std::int64_t chunk = knows_links(tree) ? pipelined_chunk(tree, tuning, spec)
                                                     : measured_chunk(tree, tuning, spec);
        return rounded_up(chunk, multiple);
    }
    return std::max<std::int64_t>(1, *chunk_bytes / spec.elem_bytes / multiple) * multiple;
}

void deal_where_cut_too_finely(const Tree& tree, PlanSpec& spec) {
    const std::int64_t chunk = spec.chunk_elems > 0 ? spec.chunk_elems : spec.count_elems;
    const std::int64_t granules = divided_up(chunk, spec.granule_elems);
    if (most_cut_pieces(tree, granules) <= most_cut_pieces_of_a_plan) return;
    spec.dealt = true;
    spec.granule_elems *= divided_up(granules, dealt_granules);
    spec.chunk_elems = rounded_up(spec.chunk_elems, chunk_multiple(spec, tree.rank_count()));
}

}  // namespace gradcoll
