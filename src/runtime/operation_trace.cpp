#include "runtime/operation_trace.hpp"

#include <fmt/format.h>

#include <set>

#include "base/text.hpp"
#include "collectives/build/builder.hpp"
#include "runtime/program.hpp"

namespace gradcoll {
namespace {

/// Returns the codecs of the messages, sorted by number, so exact first.
std::string codecs_of(const Plan& plan) {
    std::set<CodecId> used;
    for (const Schedule* schedule : {&plan.body, &plan.tail})
        for (const Step& step : schedule->steps)
            if (is_message(step.kind)) used.insert(step.codec);
    std::string text;
    for (const CodecId codec : used) text.append(text.empty() ? " " : "+").append(name_of(codec));
    return text;
}

}  // namespace

std::string operation_label(const Plan& plan) {
    const PlanSpec& spec = plan.spec;
    const auto bytes = static_cast<std::uint64_t>(spec.count_elems) * spec.elem_bytes;
    const std::string builder = spec.builder == Builder::flexreduce
                                    ? std::string()
                                    : fmt::format(" by {}", name_of(spec.builder));
    return fmt::format("{} {} {}{}{}", name_of(spec.collective),
                       bytes < 1024 ? fmt::format("{} B", bytes) : bytes_text(bytes),
                       name_of(spec.type), codecs_of(plan), builder);
}

void trace_operation(const Operation& operation, std::uint32_t label, std::uint64_t begin_ns) {
    const PlanSpec& spec = operation.plan.spec;
    operation.trace->add_overlapping(
        {.name = "operation",
         .begin_ns = begin_ns,
         .end_ns = now_ns(),
         .bytes = static_cast<std::uint64_t>(spec.count_elems) * spec.elem_bytes,
         .operation = operation.binding.sequence,
         .label = label});
}

}  // namespace gradcoll
