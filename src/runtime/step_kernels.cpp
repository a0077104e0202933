#include "runtime/step_kernels.hpp"

#include <fmt/format.h>

#include <cstring>

namespace gradcoll {
namespace {

std::size_t count_of(const Step& step) {
    return static_cast<std::size_t>(step.range.size());
}

void encode(const Step& step, const ChunkView& view, const Codec& codec, std::byte* residual) {
    const std::byte* values = view.source(step.from, step.range);
    std::byte* payload = view.target(step.to, step.range);
    if (residual)
        codec.encode_with_residual(values, residual, count_of(step), payload);
    else
        codec.encode(values, count_of(step), payload);
}

bool decode(const Step& step, const ChunkView& view, const Codec& codec) {
    return codec.decode(view.source(step.from, step.range), count_of(step),
                        view.target(step.to, step.range));
}

bool decode_sum(const Step& step, const ChunkView& view, const Codec& codec) {
    return codec.decode_sum(view.source(step.from, step.range), count_of(step),
                            view.first_operand(step), view.target(step.to, step.range));
}

/// Raw elements, unless both ends are payloads of one codec.
void copy(const Step& step, const ChunkView& view, const Operation& operation) {
    const std::size_t bytes =
        encoded_bytes(step.codec, operation.plan.spec.elem_bytes, count_of(step));
    std::memmove(view.target(step.to, step.range), view.source(step.from, step.range), bytes);
}

Status refused(const Step& step) {
    return Status(Code::corrupt,
                  fmt::format("payload of elements {} to {} at level {}: not a valid {} encoding",
                              step.range.begin, step.range.end, step.level, name_of(step.codec)));
}

}  // namespace

Status run_local_step(const Step& step, const ChunkView& view, const Operation& operation,
                      std::int64_t residual_first_elem) {
    if (step.range.empty()) return {};
    const Codec& codec = operation.codec(step.codec);
    switch (step.kind) {
        case StepKind::encode:
            encode(step, view, codec, view.residual(residual_first_elem));
            return {};
        case StepKind::decode:
            return decode(step, view, codec) ? Status() : refused(step);
        case StepKind::decode_reduce:
            return decode_sum(step, view, codec) ? Status() : refused(step);
        case StepKind::reduce:
            operation.binding.reducer(view.first_operand(step), view.source(step.from, step.range),
                                      view.target(step.to, step.range), count_of(step));
            return {};
        case StepKind::copy:
            copy(step, view, operation);
            return {};
        case StepKind::send:
        case StepKind::recv:
            break;
    }
    return Status(Code::internal, "a message is not a local step");
}

}  // namespace gradcoll
