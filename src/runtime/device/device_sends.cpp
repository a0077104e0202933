// runtime/device/device_sends.cpp - sends: the bytes are made, get their header, and leave.
#include <algorithm>
#include <span>
#include <utility>

#include "runtime/device/device_messages.hpp"

namespace gradcoll {

Status DeviceMessages::start_send(Entry& entry) {
    const DeviceMessage& message = entry.message;
    if (!room_.data_on_device) return leave(entry, message.data, message.size_bytes);
    wait_for_mark(entry, State::making_bytes);
    if (may_refer(message)) {
        const std::size_t header = message.header_bytes();
        const Status referred = side_.peers().refer(
            message.data + header, message.size_bytes - header,
            std::span<std::byte, reference_bytes>(entry.note.data() + header, reference_bytes));
        entry.by_reference = referred.ok();
    }
    const bool stays =
        entry.by_reference || is_direct(message) || (message.blocks && !mirrored(message).payload);
    return stays ? side_.work().record(*entry.mark) : copy_out(entry);
}

Status DeviceMessages::copy_out(Entry& entry) {
    const DeviceMessage& message = entry.message;
    if (!is_mirrored(message)) {
        const std::size_t header = message.header_bytes();
        GRADCOLL_TRY(side_.work().record(*order_));
        GRADCOLL_TRY(side_.out().wait_for(*order_));
        GRADCOLL_TRY(side_.out().copy(message.mirror + header, message.data + header,
                                      message.size_bytes - header));
        if (message.slot().where() == Space::scratch) mirrored(message).payload = true;
    }
    return side_.out().record(*entry.mark);
}

/// Returns whether the mirror holds the message, or will. A range of a vector does not change while
/// a send of it is on its way, so one that begins meanwhile shares its mirror.
bool DeviceMessages::is_mirrored(const DeviceMessage& message) {
    if (message.slot().where() == Space::scratch) return mirrored(message).payload;
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
        return &other.message != &message && other.message.mirror == message.mirror &&
               !other.by_reference && !is_direct(other.message) &&
               (other.state == State::making_bytes || other.state == State::leaving);
    });
}

/// Sends the message now that the bytes are there. Only now is it known whether the operation has
/// failed, which is said in what is sent.
Status DeviceMessages::leave_when_made(Entry& entry, Operation& operation) {
    const DeviceMessage& message = entry.message;
    const bool has_header = message.header_bytes() > 0;
    check_invalid(operation);
    if (message.blocks) return join_blocks(entry, operation);
    if (stands_for_failure(message, operation)) return leave_notice(entry, operation);
    if (entry.by_reference) return leave_by_reference(entry, operation);
    if (is_direct(message))
        return has_header ? place_header(entry, operation) : leave_directly(entry, operation);
    if (has_header) write_header_once(message, operation);
    return leave(entry, message.mirror, message.size_bytes);
}

/// Begins to copy the blocks into the mirror, unless another send of the slot has; all of them wait
/// for it.
Status DeviceMessages::join_blocks(Entry& entry, Operation& operation) {
    DeviceMessage& message = entry.message;
    if (operation.failed()) return leave_void(entry, operation);
    if (!std::exchange(mirrored(message).header, true)) {
        const Result<bool> is_plain = join_once(message);
        if (is_plain.status().code() == Code::internal) {
            operation.fail(is_plain.status());
            return leave_void(entry, operation);
        }
        if (!is_plain.ok()) return is_plain.status();
        write_header(*message.step, message.blocks->message(message.slot()), *is_plain, operation);
    }
    const MessageBytes bytes = message.blocks->message(message.slot());
    message.mirror = bytes.data;
    message.size_bytes = bytes.size_bytes;
    operation.stats.bytes_sent += bytes.size_bytes;
    wait_for_mark(entry, State::joining_blocks);
    return side_.out().record(*entry.mark);
}

/// Lays the blocks out now that the device has said how long they are. A message that came from a
/// peer goes on as it is. Returns whether all blocks are plain.
Result<bool> DeviceMessages::join_once(const DeviceMessage& message) {
    EncodedBlocks& blocks = *message.blocks;
    if (mirrored(message).payload) return blocks.is_plain(message.slot());
    BlockMove move;
    Result<bool> is_plain = blocks.lay_out(*message.step, move);
    if (!is_plain.ok()) return is_plain;
    move.in = message.scratch;
    mirrored(message).payload = true;
    GRADCOLL_TRY(side_.plugin().move_blocks(side_.out().native(), {&move, 1}));
    return is_plain;
}

/// Sends, on a rank that has failed, a message without blocks. It leaves the mirror alone, where
/// the device may still be at work.
Status DeviceMessages::leave_void(Entry& entry, Operation& operation) {
    const Step& send = *entry.message.step;
    const std::size_t room_bytes = frame_front_bytes(send.codec, elems_of(send)) +
                                   entry.message.blocks->bound_of(send, elems_of(send));
    const MessageBytes bytes{entry.note.data(),
                             std::min(frame_header_bytes + FailureNotice::most_bytes, room_bytes)};
    write_header(send, bytes, false, operation);
    write_failure(bytes, operation);
    operation.stats.bytes_sent += bytes.size_bytes;
    return leave(entry, bytes.data, bytes.size_bytes);
}

/// Sends, on a rank that has failed, a notice in place of plain elements. A receiver that might
/// have got a reference acknowledges whatever is as short.
Status DeviceMessages::leave_notice(Entry& entry, const Operation& operation) {
    const DeviceMessage& message = entry.message;
    const std::size_t size_bytes = FailureNotice::size_for(message.size_bytes);
    std::copy_n(operation.notice.data(), size_bytes, entry.note.data());
    entry.state = State::leaving;
    if (may_refer(message)) GRADCOLL_TRY(await_acknowledgement(entry));
    return lane_.start_short_send(message.step->peer, message.tag, entry.note.data(), size_bytes,
                                  message.size_bytes, index_of(entry));
}

/// Copies the header to the device through the mirror, which is pinned. Other sends of the slot
/// follow the first one's copy.
Status DeviceMessages::place_header(Entry& entry, const Operation& operation) {
    const DeviceMessage& message = entry.message;
    const bool is_first = !mirrored(message).header;
    write_header_once(message, operation);
    wait_for_mark(entry, State::placing_header);
    if (is_first) GRADCOLL_TRY(side_.out().copy(message.data, message.mirror, frame_header_bytes));
    return side_.out().record(*entry.mark);
}

/// Writes the header once: several sends may leave from one slot, and it must not change while the
/// first is read.
void DeviceMessages::write_header_once(const DeviceMessage& message, const Operation& operation) {
    if (std::exchange(mirrored(message).header, true)) return;
    write_header(*message.step, {message.mirror, message.size_bytes}, false, operation);
}

Status DeviceMessages::leave_directly(Entry& entry, Operation& operation) {
    ++operation.stats.sent_from_device;
    return leave(entry, entry.message.data, entry.message.size_bytes);
}

/// Sends a reference. The peer reads this rank's memory until it acknowledges.
Status DeviceMessages::leave_by_reference(Entry& entry, Operation& operation) {
    const DeviceMessage& message = entry.message;
    const std::size_t header = message.header_bytes();
    if (header > 0) {
        write_header(*message.step, {entry.note.data(), message.size_bytes}, false, operation);
        set_reference_flag(entry.note.data(), true);
    }
    ++operation.stats.sent_by_reference;
    GRADCOLL_TRY(await_acknowledgement(entry));
    return leave(entry, entry.note.data(), header + reference_bytes);
}

Status DeviceMessages::await_acknowledgement(Entry& entry) {
    ++entry.answers;
    return lane_.start_recv(entry.message.step->peer, entry.message.acknowledge_tag,
                            &entry.acknowledgement, 1, index_of(entry) | acknowledgement_bit);
}

Status DeviceMessages::leave(Entry& entry, const std::byte* bytes, std::size_t size_bytes) {
    entry.state = State::leaving;
    return lane_.start_send(entry.message.step->peer, entry.message.tag, bytes, size_bytes,
                            index_of(entry));
}

/// Takes note that the message has left, or was acknowledged.
Status DeviceMessages::take_answer(Entry& entry) {
    if (--entry.answers > 0) return {};
    report(entry, 0);
    return end(entry);
}

}  // namespace gradcoll
