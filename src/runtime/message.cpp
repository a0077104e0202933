#include "runtime/message.hpp"

#include <fmt/format.h>

#include "compress/frame.hpp"

namespace gradcoll {
namespace {

FrameHeader header_of(const Step& step, std::size_t message_bytes, const Operation& operation) {
    FrameHeader header;
    header.codec = step.codec;
    header.type = operation.plan.spec.type;
    header.sender_failed = false;
    header.count_elems = static_cast<std::uint64_t>(step.range.size());
    header.payload_bytes = message_bytes - frame_header_bytes;
    return header;
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
