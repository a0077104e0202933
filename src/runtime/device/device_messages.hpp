// runtime/device/device_messages.hpp - the messages of one executor, where a device is involved:
// between the steps of a schedule and the lane.
//
// Bytes on a device leave and arrive through their mirror in pinned memory, piece by piece as the
// chunks come; between ranks that share their devices' memory only a reference travels, the
// receiver copies from there, and acknowledges; an MPI library that reaches devices gets the bytes
// where they are. What travels is the same but for references, so each end chooses for itself.
// Nothing here waits: what the device has yet to do is looked after in poll(). The work that begins
// a state is in device_sends.cpp and device_receives.cpp. The states that a message goes through:
//
//   send     data of the host            leaving
//            of variable rate            making_bytes [-> joining_blocks] -> leaving
//            mirrored, a reference,
//              or direct without header  making_bytes -> leaving
//            direct with header          making_bytes -> placing_header -> leaving
//   receive  as it is, or broken         [awaiting_room ->] arriving
//            into a mirror               [awaiting_room ->] arriving -> copying_in
//            direct with header          [awaiting_room ->] arriving -> fetching_header
//            a reference                 [awaiting_room ->] arriving -> copying_from_peer
//                                                                    -> acknowledging
//
// A reference says that it is one: in the header of a framed message. Others have the one size that
// the plan says, so that a shorter one is a reference. Messages of variable rate, which may be
// short, are neither referred to nor sent from the device: the host puts their lengths before their
// blocks, once the device has made both, and the device writes the blocks behind them into the
// mirror. So no more leaves the device than the message has.
//
// After the last of its states an entry is free. advance() says what follows each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compress/frame.hpp"
#include "device/ipc/peer_device_memory.hpp"
#include "memory/device.hpp"
#include "runtime/device/device_area.hpp"
#include "runtime/device/device_side.hpp"
#include "runtime/operation.hpp"
#include "runtime/program.hpp"
#include "runtime/steps.hpp"

namespace gradcoll {

/// DeviceMessage is one send or receive of a chunk that has become ready.
struct DeviceMessage {
    const Step* step = nullptr;
    std::uint32_t place = 0;      ///< the chunk's place in the window
    std::byte* data = nullptr;    ///< where the message lies: header first, if it is framed
    std::byte* mirror = nullptr;  ///< the same place in pinned memory; null for data of the host
    std::size_t size_bytes =
        0;  ///< its size, header included; for a receive the most that may come
    int tag = 0;
    int acknowledge_tag = 0;  ///< tag of the acknowledgement; the other rank knows the same
    std::uint32_t cookie = 0;
    const std::byte* scratch = nullptr;  ///< scratch of the chunk, where the data are
    EncodedBlocks* blocks =
        nullptr;  ///< blocks of data on a device with a variable rate; else null

    bool is_send() const { return step->kind == StepKind::send; }
    Slot slot() const { return slot_of_message(*step); }
    std::size_t header_bytes() const { return is_framed(*step) ? frame_header_bytes : 0; }
};

/// MessageState says what a message waits for: its mark on a stream of the device, or the lane.
enum class MessageState : std::uint8_t {
    free,
    making_bytes,    ///< send, mark: the device makes the bytes, or copies them to the mirror
    joining_blocks,  ///< send, mark: the device writes the blocks into the mirror
    placing_header,  ///< send, mark: the header is copied before its bytes on the device
    leaving,  ///< send, lane: the message leaves; a reference waits for its acknowledgement, too
    awaiting_room,      ///< receive, mark: the device still reads where the message is to come
    arriving,           ///< receive, lane: the message
    copying_in,         ///< receive, mark: the device copies from the mirror
    copying_from_peer,  ///< receive, mark: the device copies from the peer's device
    fetching_header,    ///< receive, mark: a header that came to the device is copied to the host
    acknowledging,      ///< receive, lane: says that the peer's bytes are needed no more
};

/// MessageEntry keeps a message from its start until nothing is under way for it.
struct MessageEntry {
    MessageState state = MessageState::free;
    bool by_reference = false;  ///< whether a send travels as a reference
    int answers = 0;  ///< in the state leaving: how many messages of the lane have yet to end
    std::size_t received_bytes = 0;  ///< size of a receive that has arrived
    DeviceMessage message;
    std::unique_ptr<DeviceMark> mark;
    std::byte acknowledgement{};
    /// These bytes travel in place of the message: the header, if it is framed, and the reference;
    /// or the failure.
    std::array<std::byte, frame_header_bytes + reference_bytes> note{};
};

/// DeviceMessages is used by one thread at a time and allocates only when it is made.
class DeviceMessages {
  public:
    /// Shorter messages are never sent as references.
    static constexpr std::size_t least_referred_bytes = 32768;

    struct Room {
        std::uint32_t places = 0;     ///< chunks in flight
        std::size_t messages = 0;     ///< messages of one chunk
        std::size_t slots = 0;        ///< slots of one chunk
        bool data_on_device = false;  ///< whether this rank's data are; else only peers' data are,
                                      ///< and come by reference
        std::vector<bool> direct;     ///< one per rank: whether the lane takes device memory
    };
    /// `lane` must have room for two messages each. Both must outlive the object. Errors: those of
    /// Device.
    static Result<std::unique_ptr<DeviceMessages>> make(DeviceSide& side, Lane& lane,
                                                        const Room& room);

    bool data_on_device() const { return room_.data_on_device; }
    /// Returns the word to use as CodecLaunch::invalid.
    std::uint32_t* invalid() const;

    void begin_operation();
    void begin_chunk(std::uint32_t place);
    /// Errors: those of the lane and of the device.
    Status start(const DeviceMessage& message, Operation& operation);
    /// Moves messages on and reports completions as Lane::poll does. What a kernel or a peer's
    /// reference found wrong fails the operation.
    Result<std::size_t> poll(Operation& operation, std::span<Completion> out);
    /// Takes note that all steps of the chunk have been given to the device.
    Status end_chunk(std::uint32_t place);
    /// Returns whether these steps have ended and no peer needs the chunk's memory any more.
    Result<bool> chunk_has_ended(std::uint32_t place, Operation& operation);
    /// Forgets all messages, once the device is at rest. The lane has been abandoned before.
    void abandon();

  private:
    using State = MessageState;
    using Entry = MessageEntry;

    /// A cookie of the lane is the number of the entry; this bit marks an acknowledgement.
    static constexpr std::uint32_t acknowledgement_bit = std::uint32_t{1} << 31;

    DeviceMessages(DeviceSide& side, Lane& lane, const Room& room)
        : side_(side), lane_(lane), room_(room) {}

    // These look at what messages wait for, and do what follows.
    Status poll_lane(Operation& operation);
    Status poll_device(Operation& operation);
    Status advance(Entry& entry, Operation& operation);
    void wait_for_mark(Entry& entry, State state);
    void report(Entry& entry, std::size_t received_bytes);
    Status end(Entry& entry);

    // Sends (device_sends.cpp).
    Status start_send(Entry& entry);
    Status copy_out(Entry& entry);
    Status leave_when_made(Entry& entry, Operation& operation);
    Status place_header(Entry& entry, const Operation& operation);
    Status join_blocks(Entry& entry, Operation& operation);
    Result<bool> join_once(const DeviceMessage& message);
    Status leave_void(Entry& entry, Operation& operation);
    Status leave_notice(Entry& entry, const Operation& operation);
    Status leave_by_reference(Entry& entry, Operation& operation);
    Status await_acknowledgement(Entry& entry);
    Status leave_directly(Entry& entry, Operation& operation);
    Status leave(Entry& entry, const std::byte* bytes, std::size_t size_bytes);
    Status take_answer(Entry& entry);
    bool is_mirrored(const DeviceMessage& message);
    void write_header_once(const DeviceMessage& message, const Operation& operation);

    // Receives (device_receives.cpp).
    Status start_receive(Entry& entry);
    Status arrive(Entry& entry);
    Status take_arrival(Entry& entry, Operation& operation);
    Status take_reference(Entry& entry, Operation& operation);
    Result<const void*> referred_bytes(const Entry& entry);
    Status take_notice(Entry& entry, const Failure& failure, Operation& operation);
    Status take_copy(Entry& entry);
    Status fetch_header(Entry& entry);
    Status take_header(Entry& entry);
    Status copy_in(Entry& entry, const void* from, State state);
    Status copy_in_blocks(Entry& entry);
    Status acknowledge(Entry& entry);

    bool is_direct(const DeviceMessage& message) const;
    bool may_refer(const DeviceMessage& message) const;
    static bool stands_for_failure(const DeviceMessage& message, const Operation& operation);
    std::byte* arrived_at(const Entry& entry) const;
    std::uint32_t index_of(const Entry& entry) const;
    void check_invalid(Operation& operation);

    /// Mirrored tells what has been done once for all sends of a scratch slot.
    struct Mirrored {
        bool payload =
            false;  ///< whether the mirror holds it, or will when the copies out have ended
        bool header = false;  ///< whether the header has been written, and must not change any more
    };
    Mirrored& mirrored(const DeviceMessage& message);

    DeviceSide& side_;
    Lane& lane_;
    Room room_;
    DeviceArea invalid_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> free_;                      ///< numbers of free entries
    std::vector<std::uint32_t> on_device_;                 ///< entries that wait for their marks
    std::vector<Mirrored> mirrored_;                       ///< one per place and slot
    std::vector<std::unique_ptr<DeviceMark>> chunk_ends_;  ///< one per place
    std::vector<std::uint32_t> open_;  ///< one per place: how many entries are not free
    std::unique_ptr<DeviceMark>
        order_;  ///< a mark between two streams; recorded and waited for at once
    std::vector<Completion> lane_done_;
    std::vector<Completion> reports_;
    std::size_t reports_taken_ = 0;
};

}  // namespace gradcoll
