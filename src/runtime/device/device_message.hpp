// runtime/device/device_message.hpp - one message where a device is involved, and the states that
// it goes through.
//
//   send     data of the host            leaving
//            mirrored, a reference,
//              or direct without header  making_bytes -> leaving
//            direct with header          making_bytes -> placing_header -> leaving
//   receive  as it is, or broken         [awaiting_room ->] arriving
//            into a mirror               [awaiting_room ->] arriving -> copying_in
//            direct with header          [awaiting_room ->] arriving -> fetching_header
//            a reference                 [awaiting_room ->] arriving -> copying_from_peer
//                                                                    -> acknowledging
//
// After the last of its states an entry is free. DeviceMessages::advance() says what follows each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "compress/frame.hpp"
#include "memory/device.hpp"
#include "runtime/message.hpp"
#include "runtime/program.hpp"
#include "transport/device_ipc/peer_device_memory.hpp"

namespace gradcoll {

/// One send or receive of a chunk that has become ready.
struct DeviceMessage {
    const Step* step = nullptr;
    std::uint32_t place = 0;      ///< of the chunk in the window
    std::byte* data = nullptr;    ///< where the message lies: header first, if it is framed
    std::byte* mirror = nullptr;  ///< the same place in pinned memory; null for data of the host
    std::size_t size_bytes = 0;   ///< header included
    int tag = 0;
    int acknowledge_tag = 0;  ///< of the way back, the other rank knows the same
    std::uint32_t cookie = 0;

    bool is_send() const { return step->kind == StepKind::send; }
    Slot slot() const { return slot_of_message(*step); }
    std::size_t header_bytes() const { return is_framed(*step) ? frame_header_bytes : 0; }
};

/// What a message waits for: its mark on a stream of the device, or the lane.
enum class MessageState : std::uint8_t {
    free,
    making_bytes,       ///< send, mark: the device makes the bytes, or copies them to the mirror
    placing_header,     ///< send, mark: the header is copied before its bytes on the device
    leaving,            ///< send, lane: the message; of a reference the acknowledgement, too
    awaiting_room,      ///< receive, mark: the device still reads where the message is to come
    arriving,           ///< receive, lane: the message
    copying_in,         ///< receive, mark: from the mirror to the device
    copying_from_peer,  ///< receive, mark: from the peer's device
    fetching_header,    ///< receive, mark: a header that came to the device is copied to the host
    acknowledging,      ///< receive, lane: says that the peer's bytes are needed no more
};

/// A message from its start until nothing is under way for it.
struct MessageEntry {
    MessageState state = MessageState::free;
    bool by_reference = false;       ///< of sends
    int answers = 0;                 ///< leaving: messages of the lane that have yet to end
    std::size_t received_bytes = 0;  ///< of receives that have arrived
    DeviceMessage message;
    std::unique_ptr<DeviceMark> mark;
    std::byte acknowledgement{};
    /// What travels in place of the bytes: header, if it is framed, and reference.
    std::array<std::byte, frame_header_bytes + reference_bytes> note{};
};

}  // namespace gradcoll
