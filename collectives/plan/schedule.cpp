// collectives/plan/schedule.cpp - the text form of a schedule.
#include "collectives/plan/schedule.hpp"

#include <fmt/format.h>

#include <iterator>
#include <span>

namespace gradcoll {
namespace {

std::string_view name_of(Space space) {
    constexpr std::string_view names[] = {"-", "input", "output", "work", "scratch"};
    return names[static_cast<std::size_t>(space)];
}

std::string text_of(Slot slot, Range range) {
    if (slot.where() == Space::scratch) return fmt::format("scratch{}", std::uint32_t{slot.index});
    return fmt::format("{}[{},{})", name_of(slot.where()), range.begin, range.end);
}

std::string codec_suffix(CodecId codec) {
    return codec == CodecId::exact ? std::string() : fmt::format(" {}", name_of(codec));
}

std::string message_text(const Step& step) {
    const bool sends = step.kind == StepKind::send;
    const Slot place = sends ? step.from : step.to;
    std::string text = text_of(place, step.range);
    if (place.where() == Space::scratch) text += fmt::format("({} elems)", step.range.size());
    return fmt::format("{} {} {} stage {}{}", text, sends ? "to" : "from", step.peer, step.stage,
                       codec_suffix(step.codec));
}

std::string reduction_text(const Step& step) {
    const Slot x = step.from_input ? Slot::input() : step.to;
    const std::string from = text_of(step.from, step.range);
    const bool decodes = step.kind == StepKind::decode_reduce;
    return fmt::format("{} = {} + {}{}", text_of(step.to, step.range), name_of(x.where()),
                       decodes ? fmt::format("{} ", name_of(step.codec)) : "", from);
}

std::string local_text(const Step& step) {
    std::string text =
        fmt::format("{} = {}", text_of(step.to, step.range), text_of(step.from, step.range));
    const bool between_slots =
        step.from.where() == Space::scratch && step.to.where() == Space::scratch;
    if (between_slots) text += fmt::format(" of [{},{})", step.range.begin, step.range.end);
    return text + codec_suffix(step.codec);
}

std::string body_text(const Step& step) {
    switch (step.kind) {
        case StepKind::send:
        case StepKind::recv:
            return message_text(step);
        case StepKind::reduce:
        case StepKind::decode_reduce:
            return reduction_text(step);
        case StepKind::encode:
        case StepKind::decode:
        case StepKind::copy:
            break;
    }
    return local_text(step);
}

}  // namespace

std::string_view name_of(StepKind kind) {
    constexpr std::string_view names[] = {"send",          "recv",   "encode", "decode",
                                          "decode_reduce", "reduce", "copy"};
    return names[static_cast<std::size_t>(kind)];
}

std::uint64_t message_bytes(const Step& step, const Schedule& schedule, std::uint32_t elem_bytes) {
    const Slot place = step.kind == StepKind::send ? step.from : step.to;
    if (place.where() == Space::scratch) return schedule.slots[place.index].size_bytes;
    return static_cast<std::uint64_t>(step.range.size()) * elem_bytes;
}

std::string to_text(const Schedule& schedule) {
    std::string text = fmt::format("{} elems, {} steps, {} scratch bytes", schedule.count_elems,
                                   schedule.steps.size(), schedule.scratch_bytes);
    if (schedule.residual_elems > 0)
        text += fmt::format(", {} residual elems", schedule.residual_elems);
    text += '\n';
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        fmt::format_to(std::back_inserter(text), "{} {} L{} {}", i, name_of(step.kind), step.level,
                       body_text(step));
        const auto deps = std::span(schedule.deps).subspan(step.first_dep, step.dep_count);
        if (!deps.empty())
            fmt::format_to(std::back_inserter(text), " after {}", fmt::join(deps, ","));
        text += '\n';
    }
    return text;
}

}  // namespace gradcoll
