// collectives/plan/plan.cpp - names, comparisons, text and sizes of specs and plans.
#include "collectives/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"

namespace gradcoll {

std::string_view name_of(Collective collective) {
    constexpr std::string_view names[] = {"allreduce", "reduce_scatter_block", "allgather"};
    return names[static_cast<std::size_t>(collective)];
}

bool operator==(const VertexChoice& a, const VertexChoice& b) {
    return a.exchange == b.exchange && a.codec == b.codec;
}

VertexChoices::VertexChoices(std::vector<VertexChoice> by_vertex) {
    if (by_vertex.empty()) return;
    Hash hash;
    hash.value(by_vertex.size());
    for (const VertexChoice& choice : by_vertex) hash.value(choice.exchange).value(choice.codec);
    list_ = std::make_shared<const List>(List{std::move(by_vertex), hash.digest()});
}

VertexChoices VertexChoices::with_codec(CodecId codec) const {
    std::vector<VertexChoice> changed(begin(), end());
    for (VertexChoice& choice : changed) choice.codec = codec;
    return changed;
}

bool operator==(const VertexChoices& a, const VertexChoices& b) {
    return a.list_ == b.list_ ||
           (a.hash() == b.hash() && std::equal(a.begin(), a.end(), b.begin(), b.end()));
}

std::uint64_t PlanSpec::hash() const {
    Hash hash;
    hash.value(collective).value(count_elems).value(type).value(elem_bytes).value(in_place);
    hash.value(granule_elems).value(chunk_elems).value(down_codec).value(feedback);
    hash.value(builder).value(dealt);
    return hash.value(choices.hash()).digest();
}

std::int64_t chunk_multiple(const PlanSpec& spec, int rank_count) {
    return spec.granule_elems * (is_in_blocks(spec) ? rank_count : 1);
}

PlanSpec without_codecs(PlanSpec spec) {
    spec.choices = spec.choices.with_codec(CodecId::exact);
    spec.down_codec = CodecId::exact;
    return spec;
}

bool is_lossy(const PlanSpec& spec) {
    return spec.down_codec != CodecId::exact ||
           std::any_of(spec.choices.begin(), spec.choices.end(),
                       [](const VertexChoice& each) { return each.codec != CodecId::exact; });
}

namespace {

template <class Is>
CodecId first_codec(const PlanSpec& spec, const Is& is) {
    if (is(spec.down_codec)) return spec.down_codec;
    for (const VertexChoice& each : spec.choices)
        if (is(each.codec)) return each.codec;
    return CodecId::exact;
}

}  // namespace

CodecId variable_rate_codec(const PlanSpec& spec) {
    return first_codec(spec, [](CodecId codec) { return !has_fixed_rate(codec); });
}

CodecId packed_codec(const PlanSpec& spec) {
    return first_codec(spec, [](CodecId codec) { return packing_of(codec) != Packing::none; });
}

bool length_depends_on_data(const PlanSpec& spec) {
    return variable_rate_codec(spec) != CodecId::exact || packed_codec(spec) != CodecId::exact;
}

bool may_have_several_owners(const PlanSpec& spec) {
    return spec.builder != Builder::flexreduce || spec.choices.of(0).exchange == Exchange::single;
}

std::int64_t Plan::residual_elems() const {
    std::int64_t count = 0;
    if (chunk_count > 0) count = body.residual_elems * (chunk_count - 1);
    return chunk_count > 0 ? count + schedule_of(chunk_count - 1).residual_elems : 0;
}

ChunkPlace place_of(const Plan& plan, std::int64_t chunk) {
    const std::int64_t first = chunk * plan.spec.chunk_elems;
    if (!is_in_blocks(plan.spec)) return {first};
    return {first / plan.rank_count, plan.spec.count_elems / plan.rank_count,
            plan.schedule_of(chunk).count_elems / plan.rank_count};
}

std::string Plan::to_text() const {
    std::string text = fmt::format("rank {} of {}: {} of {} {}, {} chunks, {} stages\n", rank,
                                   rank_count, name_of(spec.collective), spec.count_elems,
                                   name_of(spec.type), chunk_count, stage_count);
    if (chunk_count > 0) text += "body: " + gradcoll::to_text(body);
    if (tail.count_elems > 0) text += "tail: " + gradcoll::to_text(tail);
    return text;
}

std::size_t bytes_held(const Plan& plan) {
    const auto of = [](const Schedule& schedule) {
        return schedule.steps.capacity() * sizeof(Step) +
               schedule.deps.capacity() * sizeof(std::uint32_t) +
               schedule.slots.capacity() * sizeof(SlotExtent);
    };
    return sizeof plan + of(plan.body) + of(plan.tail);
}

std::uint64_t bytes_sent(const Plan& plan) {
    if (plan.chunk_count == 0) return 0;
    const auto of = [&](const Schedule& schedule) {
        std::uint64_t bytes = 0;
        for (const Step& step : schedule.steps)
            if (step.kind == StepKind::send)
                bytes += message_bytes(step, schedule, plan.spec.elem_bytes);
        return bytes;
    };
    const bool has_tail = plan.tail.count_elems > 0;
    const auto bodies = static_cast<std::uint64_t>(plan.chunk_count - (has_tail ? 1 : 0));
    return bodies * of(plan.body) + of(plan.tail);
}

}  // namespace gradcoll
