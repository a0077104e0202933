// runtime/device/device_receives.cpp - receives: room is made, the bytes arrive, and get to where
// the data are.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/device/device_messages.hpp"

namespace gradcoll {
namespace {

/// An acknowledgement consists of this byte; only its coming counts.
constexpr std::byte acknowledgement_byte{1};

}  // namespace

/// Starts a receive, after the device has read the room. A receive that waited for steps may come
/// to where the device still reads: this is the place itself if it is direct, else a mirror that an
/// earlier message of the chunk is being copied in from. The user's stream reads nothing there any
/// more, as what comes was made with values of this rank.
Status DeviceMessages::start_receive(Entry& entry) {
    if (!room_.data_on_device || entry.message.step->dep_count == 0) return arrive(entry);
    wait_for_mark(entry, State::awaiting_room);
    DeviceStream& reader = is_direct(entry.message) ? side_.work() : side_.in();
    return reader.record(*entry.mark);
}

Status DeviceMessages::arrive(Entry& entry) {
    const DeviceMessage& message = entry.message;
    entry.state = State::arriving;
    return lane_.start_recv(message.step->peer, message.tag, arrived_at(entry), message.size_bytes,
                            index_of(entry));
}

std::byte* DeviceMessages::arrived_at(const Entry& entry) const {
    const DeviceMessage& message = entry.message;
    return room_.data_on_device && !is_direct(message) ? message.mirror : message.data;
}

Status DeviceMessages::take_arrival(Entry& entry, Operation& operation) {
    const DeviceMessage& message = entry.message;
    // A reference may also have been damaged: its sender waits for the acknowledgement.
    if (entry.received_bytes < message.size_bytes && may_refer(message))
        return take_reference(entry, operation);
    if (is_direct(message) && message.header_bytes() > 0) return fetch_header(entry);
    report(entry, entry.received_bytes);
    if (message.blocks) return copy_in_blocks(entry);
    if (!room_.data_on_device || is_direct(message) || entry.received_bytes != message.size_bytes)
        return end(entry);
    if (message.slot().where() == Space::scratch) mirrored(message) = {true, false};
    return copy_in(entry, message.mirror + message.header_bytes(), State::copying_in);
}

/// Returns where the payload of a short message lies. Errors: corrupt if the message does not say
/// that it is a reference; those of PeerDeviceMemory::resolve.
Result<const void*> DeviceMessages::referred_bytes(const Entry& entry) {
    const DeviceMessage& message = entry.message;
    const std::byte* arrived = arrived_at(entry);
    const std::size_t header = message.header_bytes();
    if (header > 0) {
        const Result<bool> says = has_reference_flag(arrived, entry.received_bytes);
        if (!says.ok()) return says.status();
        if (!*says)
            return Status(Code::corrupt,
                          fmt::format("{} bytes arrived where {} or a reference were expected",
                                      entry.received_bytes, message.size_bytes));
    }
    return side_.peers().resolve({arrived + header, entry.received_bytes - header},
                                 message.size_bytes - header);
}

/// Starts the copy from the peer's device. Steps on a device wait for the copy by themselves; those
/// of the host wait for the report, which take_copy() makes.
Status DeviceMessages::take_reference(Entry& entry, Operation& operation) {
    const DeviceMessage& message = entry.message;
    if (message.header_bytes() == 0)
        if (const auto failure = FailureNotice::instead_of(message.size_bytes, arrived_at(entry),
                                                           entry.received_bytes))
            return take_notice(entry, *failure, operation);
    const auto peers_bytes = referred_bytes(entry);
    if (peers_bytes.ok()) {
        // The payload comes behind the header now.
        if (message.header_bytes() > 0) set_reference_flag(arrived_at(entry), false);
        GRADCOLL_TRY(copy_in(entry, *peers_bytes, State::copying_from_peer));
        if (room_.data_on_device) report(entry, message.size_bytes);
        return {};
    }
    operation.fail(Status(peers_bytes.status().code(),
                          fmt::format("message from rank {} at level {}: {}", message.step->peer,
                                      message.step->level, peers_bytes.status().message())));
    report(entry, message.size_bytes);
    return acknowledge(entry);
}

/// Fails the operation, and acknowledges, since the sender waits for the acknowledgement here, too.
Status DeviceMessages::take_notice(Entry& entry, const Failure& failure, Operation& operation) {
    operation.fail(of_message(*entry.message.step, told(failure)), failure);
    report(entry, entry.message.size_bytes);
    return acknowledge(entry);
}

Status DeviceMessages::take_copy(Entry& entry) {
    if (!room_.data_on_device) report(entry, entry.message.size_bytes);
    return acknowledge(entry);
}

/// Starts copying the header to the host, which looks at it before the message counts as received.
Status DeviceMessages::fetch_header(Entry& entry) {
    const DeviceMessage& message = entry.message;
    wait_for_mark(entry, State::fetching_header);
    GRADCOLL_TRY(side_.in().copy(message.mirror, message.data, frame_header_bytes));
    return side_.in().record(*entry.mark);
}

Status DeviceMessages::take_header(Entry& entry) {
    report(entry, entry.received_bytes);
    return end(entry);
}

/// Copies in what has come, and no more; nothing reads it before the host has checked the lengths.
Status DeviceMessages::copy_in_blocks(Entry& entry) {
    DeviceMessage& message = entry.message;
    if (entry.received_bytes <= frame_header_bytes) return end(entry);
    mirrored(message) = {true, false};
    message.size_bytes = entry.received_bytes;
    return copy_in(entry, message.mirror + frame_header_bytes, State::copying_in);
}

/// Starts a copy to the place after what the device has yet to do there; later work sees what came.
Status DeviceMessages::copy_in(Entry& entry, const void* from, State state) {
    const DeviceMessage& message = entry.message;
    const std::size_t header = message.header_bytes();
    if (room_.data_on_device && message.step->dep_count > 0) {
        GRADCOLL_TRY(side_.work().record(*order_));
        GRADCOLL_TRY(side_.in().wait_for(*order_));
    }
    GRADCOLL_TRY(side_.in().copy(message.data + header, from, message.size_bytes - header));
    GRADCOLL_TRY(side_.in().record(*entry.mark));
    if (room_.data_on_device) GRADCOLL_TRY(side_.work().wait_for(*entry.mark));
    wait_for_mark(entry, state);
    return {};
}

Status DeviceMessages::acknowledge(Entry& entry) {
    const DeviceMessage& message = entry.message;
    entry.state = State::acknowledging;
    entry.acknowledgement = acknowledgement_byte;
    return lane_.start_send(message.step->peer, message.acknowledge_tag, &entry.acknowledgement, 1,
                            index_of(entry) | acknowledgement_bit);
}

}  // namespace gradcoll
