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
    return entry.by_reference || is_direct(message) ? side_.work().record(*entry.mark)
                                                    : copy_out(entry);
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

/// A range of a vector does not change while a send of it is on its way: one that begins meanwhile
/// shares its mirror.
bool DeviceMessages::is_mirrored(const DeviceMessage& message) {
    if (message.slot().where() == Space::scratch) return mirrored(message).payload;
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
        return &other.message != &message && other.message.mirror == message.mirror &&
               !other.by_reference && !is_direct(other.message) &&
               (other.state == State::making_bytes || other.state == State::leaving);
    });
}

/// Only now that the bytes are there is it known whether the operation has failed: what is sent
/// says so.
Status DeviceMessages::leave_when_made(Entry& entry, Operation& operation) {
    const DeviceMessage& message = entry.message;
    const bool has_header = message.header_bytes() > 0;
    check_invalid(operation);
    if (entry.by_reference) return leave_by_reference(entry, operation);
    if (is_direct(message))
        return has_header ? place_header(entry, operation) : leave_directly(entry, operation);
    if (has_header) write_header_once(message, operation);
    return leave(entry, message.mirror, message.size_bytes);
}

/// Through the mirror, which is pinned. Other sends of the slot follow the first one's copy.
Status DeviceMessages::place_header(Entry& entry, const Operation& operation) {
    const DeviceMessage& message = entry.message;
    const bool is_first = !mirrored(message).header;
    write_header_once(message, operation);
    wait_for_mark(entry, State::placing_header);
    if (is_first) GRADCOLL_TRY(side_.out().copy(message.data, message.mirror, frame_header_bytes));
    return side_.out().record(*entry.mark);
}

/// Several sends may leave from one slot: its header must not change while the first is read.
void DeviceMessages::write_header_once(const DeviceMessage& message, const Operation& operation) {
    if (std::exchange(mirrored(message).header, true)) return;
    write_header(*message.step, {message.mirror, message.size_bytes}, false, operation);
}

Status DeviceMessages::leave_directly(Entry& entry, Operation& operation) {
    ++operation.stats.sent_from_device;
    return leave(entry, entry.message.data, entry.message.size_bytes);
}

/// The peer reads this rank's memory until it acknowledges.
Status DeviceMessages::leave_by_reference(Entry& entry, Operation& operation) {
    const DeviceMessage& message = entry.message;
    const std::size_t header = message.header_bytes();
    if (header > 0) {
        write_header(*message.step, {entry.note.data(), message.size_bytes}, false, operation);
        set_reference_flag(entry.note.data(), true);
    }
    ++operation.stats.sent_by_reference;
    GRADCOLL_TRY(lane_.start_recv(message.step->peer, message.acknowledge_tag,
                                  &entry.acknowledgement, 1,
                                  index_of(entry) | acknowledgement_bit));
    return leave(entry, entry.note.data(), header + reference_bytes);
}

Status DeviceMessages::leave(Entry& entry, const std::byte* bytes, std::size_t size_bytes) {
    entry.state = State::leaving;
    entry.answers = entry.by_reference ? 2 : 1;
    return lane_.start_send(entry.message.step->peer, entry.message.tag, bytes, size_bytes,
                            index_of(entry));
}

/// The message has left, or was acknowledged.
Status DeviceMessages::take_answer(Entry& entry) {
    if (--entry.answers > 0) return {};
    report(entry, 0);
    return end(entry);
}

}  // namespace gradcoll
