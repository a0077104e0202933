#include "runtime/steps.hpp"

#include <fmt/format.h>

#include <cstring>

#include "compress/frame.hpp"
#include "memory/copy.hpp"
#include "runtime/block_steps.hpp"

namespace gradcoll {
namespace {

void encode(const Step& step, const ChunkView& view, const Codec& codec, std::byte* residual) {
    const std::byte* values = view.source(step.from, step.range);
    std::byte* payload = view.target(step.to, step.range);
    if (residual)
        codec.encode_with_residual(values, residual, elems_of(step), payload);
    else
        codec.encode(values, elems_of(step), payload);
}

/// Returns the most bytes that a step's payload has.
std::size_t bound_of(const Step& step, const Operation& operation) {
    return bound_bytes(step.codec, operation.plan.spec.elem_bytes, elems_of(step));
}

bool decode(const Step& step, const ChunkView& view, const Operation& operation) {
    return operation.codec(step.codec)
        .decode(view.source(step.from, step.range), bound_of(step, operation), elems_of(step),
                view.target(step.to, step.range));
}

bool decode_sum(const Step& step, const ChunkView& view, const Operation& operation) {
    return operation.codec(step.codec)
        .decode_sum(view.source(step.from, step.range), bound_of(step, operation), elems_of(step),
                    view.first_operand(step), view.target(step.to, step.range));
}

/// Copies raw elements, unless both ends are payloads of one codec.
void copy(const Step& step, const ChunkView& view, const Operation& operation) {
    std::memmove(view.target(step.to, step.range), view.source(step.from, step.range),
                 bound_of(step, operation));
}

/// Returns the header of the message as it is in its slot: not packed.
FrameHeader header_of(const Step& step, std::size_t message_bytes, const Operation& operation) {
    CodecParameters parameters = operation.codec(step.codec).parameters;
    parameters.packing = Packing::none;
    return {.codec = plain(step.codec),
            .parameters = parameters,
            .type = operation.plan.spec.type,
            .count_elems = static_cast<std::uint64_t>(step.range.size()),
            .payload_bytes = message_bytes - frame_header_bytes};
}

Status check_length(const Arrival& arrival) {
    if (arrival.received_bytes == arrival.expected_bytes || arrival.blocks) return {};
    return Status(Code::corrupt,
                  fmt::format("{} bytes arrived where {} were expected: damaged, or of a call "
                              "with another count, datatype or operation",
                              arrival.received_bytes, arrival.expected_bytes));
}

Status check_frame_of(const Step& recv, const Arrival& arrival, const Operation& operation) {
    const Result<FrameHeader> got = read_frame_header(arrival.message, arrival.received_bytes);
    if (!got.ok()) return got.status();
    GRADCOLL_TRY(check_frame(*got, header_of(recv, arrival.expected_bytes, operation)));
    if (arrival.blocks == nullptr) return {};
    return arrival.blocks->find(recv, arrival.received_bytes, got->is_plain);
}

}  // namespace

namespace {

/// Runs a step whose elements lie in one piece.
Status run_in_one_piece(const Step& step, const ChunkView& view, const Operation& operation,
                        std::int64_t residual_place) {
    switch (step.kind) {
        case StepKind::encode:
            encode(step, view, operation.codec(step.codec),
                   view.residual(residual_place, step.range.begin));
            return {};
        case StepKind::decode:
            return decode(step, view, operation) ? Status() : refused_payload(step, step.range);
        case StepKind::decode_reduce:
            return decode_sum(step, view, operation) ? Status() : refused_payload(step, step.range);
        case StepKind::reduce:
            operation.binding.reducer(view.first_operand(step), view.source(step.from, step.range),
                                      view.target(step.to, step.range), elems_of(step));
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

}  // namespace

Status run_local_step(const Step& step, const ChunkView& view, const Operation& operation,
                      std::int64_t residual_first_elem) {
    if (step.range.empty()) return {};
    if (view.blocks_of(step)) return run_block_step(step, view, operation, residual_first_elem);
    if (!view.is_in_parts()) return run_in_one_piece(step, view, operation, residual_first_elem);
    Step piece = step;
    while (piece.range.begin < step.range.end) {
        piece.range.end = view.piece_end({piece.range.begin, step.range.end});
        const std::int64_t done = piece.range.begin - step.range.begin;
        const std::size_t done_bytes =
            bound_bytes(step.codec, operation.plan.spec.elem_bytes, static_cast<std::size_t>(done));
        GRADCOLL_TRY(run_in_one_piece(piece, done > 0 ? view.later_in_slots(done_bytes) : view,
                                      operation, residual_first_elem + done));
        piece.range.begin = piece.range.end;
    }
    return {};
}

Status run_decoded(const Step& step, const ChunkView& view, const Operation& operation,
                   const std::byte* elements) {
    if (step.kind == StepKind::decode) {
        copy_bytes(view.target(step.to, step.range), elements, view.bytes_of(step.range));
        return {};
    }
    const bool valid = operation.codec(CodecId::exact)
                           .decode_sum(elements, view.bytes_of(step.range), elems_of(step),
                                       view.first_operand(step), view.target(step.to, step.range));
    return valid ? Status() : refused_payload(step, step.range);
}

void write_header(const Step& send, const MessageBytes& message, bool is_plain,
                  const Operation& operation) {
    FrameHeader header = header_of(send, message.size_bytes, operation);
    header.is_plain = is_plain;
    header.sender_failed = operation.failed();
    write_frame_header(header, message.data);
}

void write_failure(const MessageBytes& message, const Operation& operation) {
    if (message.size_bytes >= frame_header_bytes + FailureNotice::most_bytes)
        std::memcpy(message.data + frame_header_bytes, operation.notice.data(),
                    FailureNotice::most_bytes);
}

Status start_message(const Step& step, const MessageBytes& bytes, int tag, std::uint32_t cookie,
                     Operation& operation) {
    if (step.kind == StepKind::recv)
        return operation.lane.start_recv(step.peer, tag, bytes.data, bytes.size_bytes, cookie);
    ++operation.stats.messages_sent;
    operation.stats.bytes_sent += bytes.size_bytes;
    return operation.lane.start_send(step.peer, tag, bytes.data, bytes.size_bytes, cookie);
}

Status start_notice(const Step& send, std::size_t whole_bytes, int tag, std::uint32_t cookie,
                    Operation& operation) {
    const std::size_t size_bytes = FailureNotice::size_for(whole_bytes);
    ++operation.stats.messages_sent;
    operation.stats.bytes_sent += size_bytes;
    return operation.lane.start_short_send(send.peer, tag, operation.notice.data(), size_bytes,
                                           whole_bytes, cookie);
}

/// Sends the signature without counting it: statistics are those of the plan's messages, alike for
/// all its operations.
Status start_signature(const Step& send, std::size_t whole_bytes, int tag, std::uint32_t cookie,
                       const Operation& operation) {
    return operation.lane.start_short_send(send.peer, tag, operation.signature.data(),
                                           SignatureNotice::size_bytes, whole_bytes, cookie);
}

Status of_message(const Step& recv, const Status& status) {
    return Status(status.code(), fmt::format("message from rank {} at level {}: {}", recv.peer,
                                             recv.level, status.message()));
}

std::optional<Failure> failure_in(const Step& recv, const Arrival& arrival) {
    if (!is_framed(recv))
        return FailureNotice::instead_of(arrival.expected_bytes, arrival.message,
                                         arrival.received_bytes);
    // This is from a sender whose call has no codec.
    if (arrival.received_bytes == FailureNotice::most_bytes)
        return FailureNotice::at(arrival.message);
    const Result<FrameHeader> header = read_frame_header(arrival.message, arrival.received_bytes);
    if (!header.ok() || !header->sender_failed) return std::nullopt;
    if (arrival.received_bytes < frame_header_bytes + FailureNotice::most_bytes) return Failure();
    return FailureNotice::at(arrival.message + frame_header_bytes).value_or(Failure());
}

Status check_received(const Step& recv, const Arrival& arrival, const Operation& operation) {
    Status status = check_length(arrival);
    if (status.ok() && is_framed(recv)) status = check_frame_of(recv, arrival, operation);
    return status.ok() ? status : of_message(recv, status);
}

}  // namespace gradcoll
