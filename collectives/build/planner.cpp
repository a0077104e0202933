// collectives/build/planner.cpp - checks a spec, cuts it into chunks, builds one rank's plan.
#include "collectives/build/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/refusals.hpp"
#include "base/round.hpp"
#include "collectives/exchange/exchange.hpp"

namespace gradcoll {
namespace {

// These functions check whether a spec can be planned on a tree. They use only facts that all ranks
// share, so all of them accept a spec, or none.

constexpr std::uint32_t max_stages = std::numeric_limits<std::uint16_t>::max();
constexpr std::int64_t max_vector_bytes = std::int64_t{1}
                                          << 56;  // scratch sums stay far from overflow

Status check_sizes(const Tree& tree, const PlanSpec& spec) {
    if (spec.elem_bytes == 0) return invalid("elem_bytes is 0: must be at least 1");
    const std::size_t known = element_bytes(spec.type);
    if (known != 0 && known != spec.elem_bytes)
        return invalid("elem_bytes is {}: elements of {} have {}", spec.elem_bytes,
                       name_of(spec.type), known);
    if (spec.count_elems < 0 || spec.count_elems > max_vector_bytes / spec.elem_bytes)
        return invalid("count_elems is {}: must be 0 to {} for elements of {} bytes",
                       spec.count_elems, max_vector_bytes / spec.elem_bytes, spec.elem_bytes);
    if (spec.granule_elems < 1)
        return invalid("granule_elems is {}: must be at least 1", spec.granule_elems);
    const std::int64_t least_chunk = chunk_multiple(spec, tree.rank_count());
    if (spec.chunk_elems < 0 || spec.chunk_elems % least_chunk != 0)
        return invalid("chunk_elems is {}: must be 0 or a multiple of {}, a granule{}",
                       spec.chunk_elems, least_chunk, is_in_blocks(spec) ? " of each block" : "");
    if (!is_in_blocks(spec)) return {};
    if (spec.count_elems % tree.rank_count() != 0)
        return invalid("count_elems is {}: must be a multiple of the {} ranks for {}",
                       spec.count_elems, tree.rank_count(), name_of(spec.collective));
    return {};
}

Status check_codec(const PlanSpec& spec, CodecId codec, std::string_view what) {
    if (!is_registered(codec))
        return invalid("{} is {}: must be the number of a codec", what, static_cast<int>(codec));
    if (codec == CodecId::exact) return {};
    if (!codec_supports(codec, spec.type))
        return invalid("{} is {}: not defined for elements of {}", what, name_of(codec),
                       name_of(spec.type));
    if (spec.granule_elems % static_cast<std::int64_t>(codec_block_elems(codec)) != 0)
        return invalid("granule_elems is {}: must be a multiple of {} for {} {}",
                       spec.granule_elems, codec_block_elems(codec), what, name_of(codec));
    return {};
}

Status check_choices(const Tree& tree, const PlanSpec& spec) {
    GRADCOLL_TRY(check_codec(spec, spec.down_codec, "down_codec"));
    if (spec.choices.empty()) return {};
    if (static_cast<int>(spec.choices.size()) != tree.vertex_count())
        return invalid("choices has {} entries: must be empty or one for each of the {} vertices",
                       spec.choices.size(), tree.vertex_count());
    for (const int vertex : tree.inner_vertices()) {
        const VertexChoice& choice = spec.choices[static_cast<std::size_t>(vertex)];
        if (!is_known(choice.exchange))
            return invalid("the exchange of vertex {} is number {}: must be that of {} or merged",
                           vertex, static_cast<int>(choice.exchange), exchange_names());
        GRADCOLL_TRY(check_codec(spec, choice.codec, "a level's codec"));
    }
    return {};
}

Status check_feedback(const PlanSpec& spec) {
    if (!spec.feedback) return {};
    if (!is_floating(spec.type))
        return invalid("feedback needs floating-point elements, not {}", name_of(spec.type));
    if (spec.granule_elems % static_cast<std::int64_t>(lossy_block_elems) != 0)
        return invalid("granule_elems is {}: must be a multiple of {} with feedback",
                       spec.granule_elems, lossy_block_elems);
    return {};
}

/// Checks what concerns every builder. Errors: invalid_argument naming the field, its value and
/// what is allowed.
Status check_spec(const Tree& tree, const PlanSpec& spec) {
    GRADCOLL_TRY(check_sizes(tree, spec));
    GRADCOLL_TRY(check_choices(tree, spec));
    return check_feedback(spec);
}

/// Checks the levels of steps, since drawings and sums count by level. (The copy of a rank that is
/// alone is of level 0, too.)
Status check_levels(const Tree& tree, const Schedule& schedule) {
    const int levels = std::max(tree.height(), 1);
    for (const Step& step : schedule.steps)
        if (step.level >= levels)
            return {Code::internal, fmt::format("a step is of level {}: the tree has {}",
                                                static_cast<int>(step.level), levels)};
    return {};
}

/// Returns the chunk of a call in blocks that is encoded: whole granules of each block, so that
/// encodings begin and end with blocks of their codecs, and little is left for the tail, which goes
/// without them. Residuals have the same chunks whatever the codecs.
std::int64_t encoded_chunk(const PlanSpec& spec, int rank_count) {
    if (!is_in_blocks(spec) || !(is_lossy(spec) || spec.feedback)) return spec.chunk_elems;
    constexpr std::int64_t further_counts = 4;
    const std::int64_t multiple = chunk_multiple(spec, rank_count);
    const std::int64_t granules = spec.count_elems / multiple;
    if (granules == 0) return 0;
    const std::int64_t wished =
        spec.chunk_elems == 0 ? 1
                              : std::min(granules, divided_up(spec.count_elems, spec.chunk_elems));
    std::int64_t best = wished;
    for (std::int64_t chunks = wished; chunks < wished + further_counts; ++chunks)
        if (chunks <= granules && granules % chunks < granules % best) best = chunks;
    return granules / best * multiple;
}

}  // namespace

LossParts loss_parts_of(const Tree& tree, const PlanSpec& spec) {
    const bool goes_up = spec.collective != Collective::allgather;
    const bool goes_down = spec.collective != Collective::reduce_scatter_block;
    LossParts parts;
    const auto take = [&](CodecId codec, std::int64_t times) {
        const std::int64_t each = times > 0 ? loss_parts_of(codec) : 0;
        parts.together += times * each;
        parts.largest = std::max(parts.largest, each);
    };
    for (const int vertex : tree.inner_vertices())
        if (goes_up)
            take(spec.choices.of(vertex).codec,
                 static_cast<std::int64_t>(tree.vertex(vertex).children.size()) - 1);
    if (goes_down) take(spec.down_codec, 1);
    // Other builders promise only that no encoding is encoded again: so each is an operand of a
    // sum, or the result's.
    if (spec.builder != Builder::flexreduce && is_lossy(spec))
        parts.together = (2 * std::int64_t{tree.rank_count()} - 1) * parts.largest;
    return parts;
}

Result<Planner> Planner::make(const Tree& tree, PlanSpec spec) {
    GRADCOLL_TRY(check_spec(tree, spec));
    spec.chunk_elems = encoded_chunk(spec, tree.rank_count());
    const BuilderRow* row = find_builder(spec.builder);
    if (row == nullptr)
        return Status(Code::invalid_argument,
                      fmt::format("there is no builder of number {}; docs/settings.md has their "
                                  "names",
                                  static_cast<int>(spec.builder)));
    auto builder = GRADCOLL_VALUE(row->make(tree, spec));
    if (builder->stage_count() > max_stages)
        return Status(Code::unsupported,
                      fmt::format("{} takes {} stages on this tree: at most {}", row->name,
                                  builder->stage_count(), max_stages));
    auto exact = is_in_blocks(spec) && is_lossy(spec)
                     ? GRADCOLL_VALUE(row->make(tree, without_codecs(spec)))
                     : builder;
    const LossParts loss_parts = loss_parts_of(tree, spec);
    return Planner(tree, std::move(spec), {std::move(builder), std::move(exact)}, loss_parts);
}

/// Rests of blocks that no codec's blocks fill go as they are.
Result<Schedule> Planner::schedule(int rank, std::int64_t chunk_elems) const {
    const bool is_rest =
        is_in_blocks(spec_) && chunk_elems % chunk_multiple(spec_, tree_->rank_count()) != 0;
    auto made = (is_rest ? builders_.of_rests : builders_.usual)->schedule(rank, chunk_elems);
    if (made.ok()) GRADCOLL_TRY(check_levels(*tree_, *made));
    return made;
}

Result<Plan> Planner::plan(int rank) const {
    const int rank_count = tree_->rank_count();
    if (rank < 0 || rank >= rank_count)
        return Status(Code::invalid_argument,
                      fmt::format("rank is {}: must be 0 to {}", rank, rank_count - 1));
    Plan plan;
    plan.spec = spec_;
    plan.rank = rank;
    plan.rank_count = rank_count;
    plan.stage_count = stage_count();
    plan.loss_parts = loss_parts_;
    plan.encodings_go_one_hop = builders_.usual->encodings_go_one_hop();
    if (spec_.count_elems == 0) return plan;
    const std::int64_t chunk =
        spec_.chunk_elems == 0 ? spec_.count_elems : std::min(spec_.chunk_elems, spec_.count_elems);
    plan.chunk_count = (spec_.count_elems + chunk - 1) / chunk;
    const std::int64_t rest = spec_.count_elems % chunk;
    plan.body = GRADCOLL_VALUE(schedule(rank, chunk));
    if (rest > 0) plan.tail = GRADCOLL_VALUE(schedule(rank, rest));
    return plan;
}

Result<Plan> make_plan(const Tree& tree, const PlanSpec& spec, int rank) {
    const Result<Planner> planner = Planner::make(tree, spec);
    return planner.ok() ? planner->plan(rank) : Result<Plan>(planner.status());
}

}  // namespace gradcoll
