#include "runtime/steps.hpp"

#include <fmt/format.h>

#include <cstring>

#include "compress/frame.hpp"

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

/// What a payload has room for.
std::size_t bound_of(const Step& step, const Operation& operation) {
    return bound_bytes(step.codec, operation.plan.spec.elem_bytes, count_of(step));
}

bool decode(const Step& step, const ChunkView& view, const Operation& operation) {
    return operation.codec(step.codec)
        .decode(view.source(step.from, step.range), bound_of(step, operation), count_of(step),
                view.target(step.to, step.range));
}

bool decode_sum(const Step& step, const ChunkView& view, const Operation& operation) {
    return operation.codec(step.codec)
        .decode_sum(view.source(step.from, step.range), bound_of(step, operation), count_of(step),
                    view.first_operand(step), view.target(step.to, step.range));
}

/// Raw elements, unless both ends are payloads of one codec.
void copy(const Step& step, const ChunkView& view, const Operation& operation) {
    std::memmove(view.target(step.to, step.range), view.source(step.from, step.range),
                 bound_of(step, operation));
}

Status refused(const Step& step) {
    return Status(Code::corrupt,
                  fmt::format("payload of elements {} to {} at level {}: not a valid {} encoding",
                              step.range.begin, step.range.end, step.level, name_of(step.codec)));
}

FrameHeader header_of(const Step& step, std::size_t message_bytes, const Operation& operation) {
    return {.codec = step.codec,
            .type = operation.plan.spec.type,
            .count_elems = static_cast<std::uint64_t>(step.range.size()),
            .payload_bytes = message_bytes - frame_header_bytes};
}

Status named(const Step& recv, const Status& status) {
    return Status(status.code(), fmt::format("message from rank {} at level {}: {}", recv.peer,
                                             recv.level, status.message()));
}

Status check_frame_of(const Step& recv, const std::byte* message, std::size_t size_bytes,
                      const Operation& operation) {
    const Result<FrameHeader> got = read_frame_header(message, size_bytes);
    if (!got.ok()) return got.status();
    return check_frame(*got, header_of(recv, size_bytes, operation));
}

}  // namespace

Status run_local_step(const Step& step, const ChunkView& view, const Operation& operation,
                      std::int64_t residual_first_elem) {
    if (step.range.empty()) return {};
    switch (step.kind) {
        case StepKind::encode:
            encode(step, view, operation.codec(step.codec), view.residual(residual_first_elem));
            return {};
        case StepKind::decode:
            return decode(step, view, operation) ? Status() : refused(step);
        case StepKind::decode_reduce:
            return decode_sum(step, view, operation) ? Status() : refused(step);
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

void write_header(const Step& send, std::size_t message_bytes, const Operation& operation,
                  std::byte* out) {
    FrameHeader header = header_of(send, message_bytes, operation);
    header.sender_failed = operation.failed();
    write_frame_header(header, out);
}

Status start_message(const Step& step, const ChunkView& view, int tag, std::uint32_t cookie,
                     Operation& operation) {
    if (step.kind == StepKind::recv)
        return operation.lane.start_recv(step.peer, tag, view.target(step.to, step.range),
                                         view.message_bytes(step.to, step.range), cookie);
    const std::size_t bytes = view.message_bytes(step.from, step.range);
    ++operation.stats.messages_sent;
    operation.stats.bytes_sent += bytes;
    return operation.lane.start_send(step.peer, tag, view.source(step.from, step.range), bytes,
                                     cookie);
}

Status check_received(const Step& recv, const Arrival& arrival, const Operation& operation) {
    if (arrival.received_bytes != arrival.expected_bytes)
        return named(recv, Status(Code::corrupt,
                                  fmt::format("{} bytes arrived where {} were expected",
                                              arrival.received_bytes, arrival.expected_bytes)));
    if (!is_framed(recv)) return {};
    Status status = check_frame_of(recv, arrival.message, arrival.expected_bytes, operation);
    return status.ok() ? status : named(recv, status);
}

}  // namespace gradcoll
