// runtime/device/device_messages.hpp - the messages of one executor, where a device is involved:
// between the steps of a schedule and the lane.
//
// Bytes on a device leave and arrive through their mirror in pinned memory, piece by piece as the
// chunks come; between ranks that share their devices' memory only a reference travels, the
// receiver copies from there, and acknowledges; an MPI library that reaches devices gets the bytes
// where they are. What travels is the same but for references, so each end chooses for itself.
// Nothing here waits: what the device has yet to do is looked after in poll().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compress/frame.hpp"
#include "runtime/device/device_area.hpp"
#include "runtime/device/device_side.hpp"
#include "runtime/device/mirror.hpp"
#include "runtime/operation.hpp"

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
};

/// Used by one thread at a time. Allocates only when it is made.
class DeviceMessages {
  public:
    /// Shorter messages are never sent as references.
    static constexpr std::size_t least_referred_bytes = 32768;

    struct Room {
        std::uint32_t places = 0;     ///< chunks in flight
        std::size_t messages = 0;     ///< of one chunk
        std::size_t slots = 0;        ///< of one chunk
        bool data_on_device = false;  ///< else only peers' data are, and come by reference
        std::vector<bool> direct;     ///< by rank: the lane takes device memory
    };
    /// `lane` must have room for two messages each. Both must outlive the object. Errors: those of
    /// Device.
    static Result<std::unique_ptr<DeviceMessages>> make(DeviceSide& side, Lane& lane,
                                                        const Room& room);

    bool data_on_device() const { return room_.data_on_device; }
    DeviceSide& side() { return side_; }
    /// A word for CodecLaunch::invalid.
    std::uint32_t* invalid() const;

    void begin_operation();
    void begin_chunk(std::uint32_t place);
    /// Errors: those of the lane and of the device.
    Status start(const DeviceMessage& message, Operation& operation);
    /// As Lane::poll. What a kernel or a peer's reference found wrong fails the operation.
    Result<std::size_t> poll(Operation& operation, std::span<Completion> out);
    /// All steps of the chunk have been given to the device.
    Status end_chunk(std::uint32_t place);
    /// Whether they have ended, too, and no peer needs the chunk's memory any more.
    Result<bool> chunk_has_ended(std::uint32_t place, Operation& operation);
    /// Forgets all messages, once the device is at rest. The lane has been abandoned before.
    void abandon();

  private:
    enum class State : std::uint8_t {
        free,
        on_its_way_out,  ///< send: the device has yet to make or copy the bytes
        heading,         ///< send: the device has yet to put the header before its own bytes
        leaving,         ///< send: with the lane; a reference also waits for its acknowledgement
        held,            ///< receive: its mirror is still being read
        arriving,        ///< receive: with the lane
        on_its_way_in,   ///< receive: the device copies
        acknowledging,   ///< receive: with the lane
    };
    static constexpr std::size_t largest_note_bytes = frame_header_bytes + reference_bytes;

    struct Entry {
        State state = State::free;
        bool by_reference = false;
        bool reported = false;           ///< its completion
        std::size_t received_bytes = 0;  ///< to be reported once the device has copied
        int answers = 0;  ///< send by reference: messages of the lane that have yet to end
        DeviceMessage message;
        std::unique_ptr<DeviceMark> mark;
        std::byte acknowledgement{};
        std::array<std::byte, largest_note_bytes> note{};  ///< what travels in place of the bytes
    };

    DeviceMessages(DeviceSide& side, Lane& lane, const Room& room)
        : side_(side), lane_(lane), room_(room) {}

    static std::size_t header_bytes(const DeviceMessage& message);
    static std::size_t note_bytes(const DeviceMessage& message);
    /// What has been done once for all sends of a scratch slot.
    struct Mirrored {
        bool payload = false;  ///< the mirror holds it, or will when the copies out have ended
        bool header = false;   ///< has been written, and must not change any more
    };
    Mirrored& mirrored(const DeviceMessage& message);
    bool is_mirrored(const DeviceMessage& message);
    void write_header_once(const DeviceMessage& message, const Operation& operation);
    std::uint32_t index_of(const Entry& entry) const;

    Status start_send(Entry& entry);
    Status start_recv(Entry& entry);
    bool may_refer(const DeviceMessage& message) const;
    Status copy_out(Entry& entry);
    Status post_recv(Entry& entry);
    Status copy_in(Entry& entry, const void* from);
    bool is_direct(const DeviceMessage& message) const;
    Status leave(Entry& entry, Operation& operation);
    Status leave_directly(Entry& entry, Operation& operation);
    Status acknowledge(Entry& entry);
    void free(Entry& entry);

    Status look_after_lane(Operation& operation);
    Status take(const Completion& done, Operation& operation);
    Status take_arrival(Entry& entry, std::size_t received_bytes, Operation& operation);
    Status take_reference(Entry& entry, std::size_t received_bytes, Operation& operation);
    Status fetch_header(Entry& entry, std::size_t received_bytes);
    Status look_after_device(Operation& operation);
    Status go_on(Entry& entry, Operation& operation);
    void report(Entry& entry, std::size_t received_bytes);
    void look_for_invalid(Operation& operation);

    DeviceSide& side_;
    Lane& lane_;
    Room room_;
    DeviceArea invalid_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> free_;                      ///< entries that are
    std::vector<std::uint32_t> on_device_;                 ///< entries that wait for their marks
    std::vector<Mirrored> mirrored_;                       ///< by place and slot
    std::vector<std::unique_ptr<DeviceMark>> chunk_ends_;  ///< by place
    std::vector<std::uint32_t> open_;                      ///< by place: entries that are not free
    std::unique_ptr<DeviceMark> order_;  ///< between two streams; recorded and waited for at once
    std::vector<Completion> lane_done_;
    std::vector<Completion> reports_;
    std::size_t reports_taken_ = 0;
};

}  // namespace gradcoll
