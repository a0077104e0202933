// collectives/plan.cpp - checks a spec, cuts it into chunks, builds one rank's plan.
#include "collectives/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/hash.hpp"
#include "collectives/flexreduce/flexreduce.hpp"

namespace gradcoll {
namespace {

constexpr int max_stages = std::numeric_limits<std::uint16_t>::max();
constexpr int max_ranks = 32767;  // a step may wait for two messages a peer; Step counts to 65535
constexpr int max_height = std::numeric_limits<std::uint8_t>::max();
constexpr std::int64_t max_vector_bytes = std::int64_t{1}
                                          << 56;  // scratch sums stay far from overflow

template <class... Args>
Status invalid(fmt::format_string<Args...> format, Args&&... args) {
    return {Code::invalid_argument, fmt::format(format, std::forward<Args>(args)...)};
}

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
    if (spec.chunk_elems < 0 || spec.chunk_elems % spec.granule_elems != 0)
        return invalid("chunk_elems is {}: must be 0 or a multiple of the granule {}",
                       spec.chunk_elems, spec.granule_elems);
    if (spec.collective == Collective::allreduce) return {};
    if (spec.chunk_elems != 0)
        return invalid("chunk_elems is {}: {} is not cut into chunks (0)", spec.chunk_elems,
                       name_of(spec.collective));
    if (spec.count_elems % tree.rank_count() != 0)
        return invalid("count_elems is {}: must be a multiple of the {} ranks for {}",
                       spec.count_elems, tree.rank_count(), name_of(spec.collective));
    return {};
}

Status check_codec(const PlanSpec& spec, CodecId codec, std::string_view what) {
    if (static_cast<int>(codec) >= codec_count)
        return invalid("{} is {}: must be below {}", what, static_cast<int>(codec), codec_count);
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
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
        if (tree.is_leaf(vertex)) continue;
        const VertexChoice& choice = spec.choices[static_cast<std::size_t>(vertex)];
        if (choice.exchange != Exchange::direct && choice.exchange != Exchange::ring)
            return invalid("the exchange of vertex {} is {}: must be direct (0) or ring (1)",
                           vertex, static_cast<int>(choice.exchange));
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

Status check(const Tree& tree, const PlanSpec& spec, int rank) {
    if (rank < 0 || rank >= tree.rank_count())
        return invalid("rank is {}: must be 0 to {}", rank, tree.rank_count() - 1);
    if (tree.rank_count() > max_ranks)
        return {Code::unsupported,
                fmt::format("the tree has {} ranks: at most {}", tree.rank_count(), max_ranks)};
    if (tree.height() > max_height)
        return {Code::unsupported,
                fmt::format("the tree is {} levels high: at most {}", tree.height(), max_height)};
    GRADCOLL_TRY(check_sizes(tree, spec));
    GRADCOLL_TRY(check_choices(tree, spec));
    GRADCOLL_TRY(check_feedback(spec));
    const int stages = flexreduce_stage_count(tree, spec);
    if (stages > max_stages)
        return {Code::unsupported,
                fmt::format("a ring of this tree takes {} stages: at most {}", stages, max_stages)};
    return {};
}

}  // namespace

std::string_view name_of(Collective collective) {
    constexpr std::string_view names[] = {"allreduce", "reduce_scatter_block", "allgather"};
    return names[static_cast<std::size_t>(collective)];
}

bool operator==(const VertexChoice& a, const VertexChoice& b) {
    return a.exchange == b.exchange && a.codec == b.codec;
}

std::uint64_t PlanSpec::hash() const {
    Hash hash;
    hash.value(collective).value(count_elems).value(type).value(elem_bytes).value(in_place);
    hash.value(granule_elems)
        .value(chunk_elems)
        .value(down_codec)
        .value(feedback)
        .value(choices.size());
    for (const VertexChoice& choice : choices) hash.value(choice.exchange).value(choice.codec);
    return hash.digest();
}

std::int64_t Plan::residual_elems() const {
    std::int64_t count = 0;
    if (chunk_count > 0) count = body.residual_elems * (chunk_count - 1);
    return chunk_count > 0 ? count + schedule_of(chunk_count - 1).residual_elems : 0;
}

std::string Plan::to_text() const {
    std::string text = fmt::format("rank {} of {}: {} of {} {}, {} chunks, {} stages\n", rank,
                                   rank_count, name_of(spec.collective), spec.count_elems,
                                   name_of(spec.type), chunk_count, stage_count);
    if (chunk_count > 0) text += "body: " + gradcoll::to_text(body);
    if (tail.count_elems > 0) text += "tail: " + gradcoll::to_text(tail);
    return text;
}

Result<Plan> make_plan(const Tree& tree, const PlanSpec& spec, int rank) {
    if (Status status = check(tree, spec, rank); !status.ok()) return status;
    Plan plan;
    plan.spec = spec;
    plan.rank = rank;
    plan.rank_count = tree.rank_count();
    plan.stage_count = static_cast<std::uint32_t>(flexreduce_stage_count(tree, spec));
    if (spec.count_elems == 0) return plan;
    const std::int64_t chunk =
        spec.chunk_elems == 0 ? spec.count_elems : std::min(spec.chunk_elems, spec.count_elems);
    plan.chunk_count = (spec.count_elems + chunk - 1) / chunk;
    plan.body = flexreduce_schedule(tree, spec, rank, chunk);
    const std::int64_t rest = spec.count_elems % chunk;
    if (rest != 0) plan.tail = flexreduce_schedule(tree, spec, rank, rest);
    return plan;
}

std::vector<std::uint64_t> bytes_to_peers(const Plan& plan) {
    std::vector<std::uint64_t> bytes(static_cast<std::size_t>(plan.rank_count), 0);
    const auto add = [&](const Schedule& schedule, std::uint64_t times) {
        for (const Step& step : schedule.steps)
            if (step.kind == StepKind::send)
                bytes[static_cast<std::size_t>(step.peer)] +=
                    times * message_bytes(step, schedule, plan.spec.elem_bytes);
    };
    if (plan.chunk_count == 0) return bytes;
    const bool has_tail = plan.tail.count_elems > 0;
    add(plan.body, static_cast<std::uint64_t>(plan.chunk_count - (has_tail ? 1 : 0)));
    if (has_tail) add(plan.tail, 1);
    return bytes;
}

}  // namespace gradcoll
