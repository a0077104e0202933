#include "runtime/device/device_messages.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "memory/device.hpp"
#include "runtime/message.hpp"
#include "runtime/program.hpp"

namespace gradcoll {
namespace {

/// Cookies of the lane: the entry, and whether it is the acknowledgement of a send by reference.
constexpr std::uint32_t acknowledgement_bit = std::uint32_t{1} << 31;
/// Its content; only its coming counts.
constexpr std::byte acknowledgement_byte{1};
constexpr std::size_t completions_per_look = 64;

bool is_send(const DeviceMessage& message) {
    return message.step->kind == StepKind::send;
}

Slot slot_of(const DeviceMessage& message) {
    return slot_of_message(*message.step);
}

}  // namespace

Result<std::unique_ptr<DeviceMessages>> DeviceMessages::make(DeviceSide& side, Lane& lane,
                                                             const Room& room) {
    std::unique_ptr<DeviceMessages> made(new DeviceMessages(side, lane, room));
    Device& device = side.device();
    auto invalid = DeviceArea::make(device, DeviceArea::Kind::pinned, sizeof(std::uint32_t));
    if (!invalid.ok()) return invalid.status();
    made->invalid_ = std::move(invalid).value();
    const std::size_t count = room.places * room.messages;
    made->entries_.resize(count);
    made->chunk_ends_.resize(room.places);
    std::vector<std::unique_ptr<DeviceMark>*> marks = {&made->order_};
    for (Entry& entry : made->entries_) marks.push_back(&entry.mark);
    for (auto& mark : made->chunk_ends_) marks.push_back(&mark);
    for (std::unique_ptr<DeviceMark>* mark : marks) {
        auto fresh = device.make_mark();
        if (!fresh.ok()) return fresh.status();
        *mark = std::move(fresh).value();
    }
    made->free_.reserve(count);
    made->on_device_.reserve(count);
    made->reports_.reserve(count);
    made->mirrored_.resize(room.places * room.slots);
    made->open_.resize(room.places);
    made->lane_done_.resize(completions_per_look);
    made->begin_operation();
    return made;
}

std::uint32_t* DeviceMessages::invalid() const {
    return reinterpret_cast<std::uint32_t*>(invalid_.data());
}

void DeviceMessages::begin_operation() {
    *invalid() = 0;
    free_.clear();
    for (std::size_t i = entries_.size(); i-- > 0;) free_.push_back(static_cast<std::uint32_t>(i));
    on_device_.clear();
    reports_.clear();
    reports_taken_ = 0;
    std::fill(open_.begin(), open_.end(), 0U);
}

void DeviceMessages::begin_chunk(std::uint32_t place) {
    std::fill_n(mirrored_.begin() + static_cast<std::ptrdiff_t>(place * room_.slots), room_.slots,
                Mirrored{});
}

std::size_t DeviceMessages::header_bytes(const DeviceMessage& message) {
    return is_framed(*message.step) ? frame_header_bytes : 0;
}

std::size_t DeviceMessages::note_bytes(const DeviceMessage& message) {
    return header_bytes(message) + reference_bytes;
}

std::uint32_t DeviceMessages::index_of(const Entry& entry) const {
    return static_cast<std::uint32_t>(&entry - entries_.data());
}

/// Of scratch slots, which are written once in a chunk.
DeviceMessages::Mirrored& DeviceMessages::mirrored(const DeviceMessage& message) {
    return mirrored_[message.place * room_.slots + slot_of(message).index];
}

/// A range of a vector does not change while a send of it is on its way: one that begins meanwhile
/// shares its mirror.
bool DeviceMessages::is_mirrored(const DeviceMessage& message) {
    if (slot_of(message).where() == Space::scratch) return mirrored(message).payload;
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
        return &other.message != &message && other.message.mirror == message.mirror &&
               !other.by_reference && !is_direct(other.message) &&
               (other.state == State::on_its_way_out || other.state == State::leaving);
    });
}

/// Several sends may leave from one slot: its header must not change while the first is read.
void DeviceMessages::write_header_once(const DeviceMessage& message, const Operation& operation) {
    if (std::exchange(mirrored(message).header, true)) return;
    write_header(*message.step, message.size_bytes, operation, message.mirror);
}

Status DeviceMessages::start(const DeviceMessage& message, Operation& operation) {
    if (free_.empty()) return lane_full(entries_.size());
    Entry& entry = entries_[free_.back()];
    free_.pop_back();
    ++open_[message.place];
    entry.message = message;
    entry.by_reference = entry.reported = false;
    entry.answers = 0;
    if (!is_send(message)) return start_recv(entry);
    ++operation.stats.messages_sent;
    operation.stats.bytes_sent += message.size_bytes;
    return start_send(entry);
}

/// All ranks know what a message's size is, and who shares: whether this one does refer, its
/// receiver sees.
bool DeviceMessages::may_refer(const DeviceMessage& message) const {
    return message.size_bytes >= least_referred_bytes && side_.shares_with(message.step->peer);
}

Status DeviceMessages::start_send(Entry& entry) {
    const DeviceMessage& message = entry.message;
    if (!room_.data_on_device) {
        entry.state = State::leaving;
        entry.answers = 1;
        return lane_.start_send(message.step->peer, message.tag, message.data, message.size_bytes,
                                index_of(entry));
    }
    entry.state = State::on_its_way_out;
    on_device_.push_back(index_of(entry));
    if (may_refer(message)) {
        const std::size_t header = header_bytes(message);
        const Status referred = side_.peers().refer(
            message.data + header, message.size_bytes - header,
            std::span<std::byte, reference_bytes>(entry.note.data() + header, reference_bytes));
        entry.by_reference = referred.ok();
    }
    return entry.by_reference || is_direct(message) ? side_.work().record(*entry.mark)
                                                    : copy_out(entry);
}

bool DeviceMessages::is_direct(const DeviceMessage& message) const {
    return room_.data_on_device && room_.direct[static_cast<std::size_t>(message.step->peer)];
}

Status DeviceMessages::copy_out(Entry& entry) {
    const DeviceMessage& message = entry.message;
    if (!is_mirrored(message)) {
        const std::size_t header = header_bytes(message);
        GRADCOLL_TRY(side_.work().record(*order_));
        GRADCOLL_TRY(side_.out().wait_for(*order_));
        GRADCOLL_TRY(side_.out().copy(message.mirror + header, message.data + header,
                                      message.size_bytes - header));
        if (slot_of(message).where() == Space::scratch) mirrored(message).payload = true;
    }
    return side_.out().record(*entry.mark);
}

/// A receive that waited for steps may come to where the device still reads: directly, the place
/// itself, else a mirror that an earlier message of the chunk is being copied in from. The user's
/// stream reads nothing there any more: what comes was made with values of this rank.
Status DeviceMessages::start_recv(Entry& entry) {
    if (!room_.data_on_device || entry.message.step->dep_count == 0) return post_recv(entry);
    entry.state = State::held;
    on_device_.push_back(index_of(entry));
    DeviceStream& reader = is_direct(entry.message) ? side_.work() : side_.in();
    return reader.record(*entry.mark);
}

Status DeviceMessages::post_recv(Entry& entry) {
    const DeviceMessage& message = entry.message;
    entry.state = State::arriving;
    std::byte* target = room_.data_on_device && !is_direct(message) ? message.mirror : message.data;
    return lane_.start_recv(message.step->peer, message.tag, target, message.size_bytes,
                            index_of(entry));
}

/// After what the device has yet to do with the place; later work sees what came.
Status DeviceMessages::copy_in(Entry& entry, const void* from) {
    const DeviceMessage& message = entry.message;
    const std::size_t header = header_bytes(message);
    if (room_.data_on_device && message.step->dep_count > 0) {
        GRADCOLL_TRY(side_.work().record(*order_));
        GRADCOLL_TRY(side_.in().wait_for(*order_));
    }
    GRADCOLL_TRY(side_.in().copy(message.data + header, from, message.size_bytes - header));
    GRADCOLL_TRY(side_.in().record(*entry.mark));
    if (room_.data_on_device) GRADCOLL_TRY(side_.work().wait_for(*entry.mark));
    entry.state = State::on_its_way_in;
    on_device_.push_back(index_of(entry));
    return {};
}

/// The bytes are there: only now is it known whether the operation has failed.
Status DeviceMessages::leave(Entry& entry, Operation& operation) {
    const DeviceMessage& message = entry.message;
    look_for_invalid(operation);
    if (!entry.by_reference && is_direct(message)) return leave_directly(entry, operation);
    std::byte* bytes = entry.by_reference ? entry.note.data() : message.mirror;
    const std::size_t size_bytes = entry.by_reference ? note_bytes(message) : message.size_bytes;
    if (header_bytes(message) > 0 && entry.by_reference)
        write_header(*message.step, message.size_bytes, operation, bytes);
    else if (header_bytes(message) > 0)
        write_header_once(message, operation);
    entry.state = State::leaving;
    entry.answers = entry.by_reference ? 2 : 1;
    operation.stats.sent_by_reference += entry.by_reference ? 1 : 0;
    const std::uint32_t index = index_of(entry);
    if (entry.by_reference)
        GRADCOLL_TRY(lane_.start_recv(message.step->peer, message.acknowledge_tag,
                                      &entry.acknowledgement, 1, index | acknowledgement_bit));
    return lane_.start_send(message.step->peer, message.tag, bytes, size_bytes, index);
}

Status DeviceMessages::leave_directly(Entry& entry, Operation& operation) {
    const DeviceMessage& message = entry.message;
    if (header_bytes(message) > 0 && entry.state == State::on_its_way_out) {
        // Through the mirror, which is pinned.
        const bool is_first = !mirrored(message).header;
        write_header_once(message, operation);
        entry.state = State::heading;
        on_device_.push_back(index_of(entry));
        if (is_first)
            GRADCOLL_TRY(side_.out().copy(message.data, message.mirror, frame_header_bytes));
        return side_.out().record(*entry.mark);
    }
    entry.state = State::leaving;
    entry.answers = 1;
    ++operation.stats.sent_from_device;
    return lane_.start_send(message.step->peer, message.tag, message.data, message.size_bytes,
                            index_of(entry));
}

Status DeviceMessages::acknowledge(Entry& entry) {
    const DeviceMessage& message = entry.message;
    entry.state = State::acknowledging;
    entry.acknowledgement = acknowledgement_byte;
    return lane_.start_send(message.step->peer, message.acknowledge_tag, &entry.acknowledgement, 1,
                            index_of(entry) | acknowledgement_bit);
}

void DeviceMessages::free(Entry& entry) {
    entry.state = State::free;
    --open_[entry.message.place];
    free_.push_back(index_of(entry));
}

void DeviceMessages::report(Entry& entry, std::size_t received_bytes) {
    entry.reported = true;
    reports_.push_back({entry.message.cookie, received_bytes, {}});
}

Status DeviceMessages::take_reference(Entry& entry, std::size_t received_bytes,
                                      Operation& operation) {
    const DeviceMessage& message = entry.message;
    const std::size_t header = header_bytes(message);
    const std::byte* arrived = room_.data_on_device ? message.mirror : message.data;
    const std::size_t reference_size = received_bytes - std::min(header, received_bytes);
    const auto peers_bytes =
        side_.peers().resolve({arrived + header, reference_size}, message.size_bytes - header);
    entry.by_reference = true;
    entry.received_bytes = message.size_bytes;
    if (peers_bytes.ok()) return copy_in(entry, *peers_bytes);
    operation.fail(Status(peers_bytes.status().code(),
                          fmt::format("message from rank {} at level {}: {}", message.step->peer,
                                      message.step->level, peers_bytes.status().message())));
    report(entry, message.size_bytes);
    return acknowledge(entry);
}

Status DeviceMessages::take_arrival(Entry& entry, std::size_t received_bytes,
                                    Operation& operation) {
    const DeviceMessage& message = entry.message;
    // Also one that was damaged: its sender waits for the acknowledgement.
    const bool is_reference = received_bytes < message.size_bytes && may_refer(message);
    if (is_reference) {
        GRADCOLL_TRY(take_reference(entry, received_bytes, operation));
        if (room_.data_on_device && !entry.reported) report(entry, message.size_bytes);
        return {};
    }
    if (is_direct(message) && header_bytes(message) > 0) return fetch_header(entry, received_bytes);
    report(entry, received_bytes);
    if (!room_.data_on_device || is_direct(message) || received_bytes != message.size_bytes) {
        free(entry);
        return {};
    }
    if (slot_of(message).where() == Space::scratch) mirrored(message) = {true, false};
    return copy_in(entry, message.mirror + header_bytes(message));
}

/// The host looks at it before the message counts as received.
Status DeviceMessages::fetch_header(Entry& entry, std::size_t received_bytes) {
    const DeviceMessage& message = entry.message;
    entry.received_bytes = received_bytes;
    entry.state = State::on_its_way_in;
    on_device_.push_back(index_of(entry));
    GRADCOLL_TRY(side_.in().copy(message.mirror, message.data, frame_header_bytes));
    return side_.in().record(*entry.mark);
}

Status DeviceMessages::take(const Completion& done, Operation& operation) {
    if (!done.status.ok()) return done.status;
    Entry& entry = entries_[done.cookie & ~acknowledgement_bit];
    if (entry.state == State::arriving) return take_arrival(entry, done.received_bytes, operation);
    if (entry.state == State::leaving) {
        if (--entry.answers > 0) return {};
        report(entry, 0);
    }
    free(entry);
    return {};
}

Status DeviceMessages::look_after_lane(Operation& operation) {
    const Result<std::size_t> count = lane_.poll(lane_done_);
    if (!count.ok()) return count.status();
    for (std::size_t i = 0; i < *count; ++i) GRADCOLL_TRY(take(lane_done_[i], operation));
    return {};
}

/// Its mark has passed.
Status DeviceMessages::go_on(Entry& entry, Operation& operation) {
    if (entry.state == State::on_its_way_out) return leave(entry, operation);
    if (entry.state == State::heading) return leave_directly(entry, operation);
    if (entry.state == State::held) return post_recv(entry);
    if (!entry.reported) report(entry, entry.received_bytes);
    if (entry.by_reference) return acknowledge(entry);
    free(entry);
    return {};
}

Status DeviceMessages::look_after_device(Operation& operation) {
    const std::size_t count = on_device_.size();
    std::size_t left = 0;
    for (std::size_t i = 0; i < count; ++i) {
        Entry& entry = entries_[on_device_[i]];
        const Result<bool> passed = entry.mark->passed();
        if (!passed.ok()) return passed.status();
        if (*passed)
            GRADCOLL_TRY(go_on(entry, operation));
        else
            on_device_[left++] = on_device_[i];
    }
    on_device_.erase(on_device_.begin() + static_cast<std::ptrdiff_t>(left),
                     on_device_.begin() + static_cast<std::ptrdiff_t>(count));
    return {};
}

void DeviceMessages::look_for_invalid(Operation& operation) {
    if (*static_cast<volatile const std::uint32_t*>(invalid()) == 0) return;
    operation.fail(
        Status(Code::corrupt, "a payload that was decoded on the device is no valid encoding"));
}

Result<std::size_t> DeviceMessages::poll(Operation& operation, std::span<Completion> out) {
    GRADCOLL_TRY(look_after_lane(operation));
    GRADCOLL_TRY(look_after_device(operation));
    const std::size_t count = std::min(out.size(), reports_.size() - reports_taken_);
    for (std::size_t i = 0; i < count; ++i) out[i] = std::move(reports_[reports_taken_ + i]);
    reports_taken_ += count;
    if (reports_taken_ == reports_.size()) {
        reports_.clear();
        reports_taken_ = 0;
    }
    return count;
}

Status DeviceMessages::end_chunk(std::uint32_t place) {
    return room_.data_on_device ? side_.work().record(*chunk_ends_[place]) : Status();
}

Result<bool> DeviceMessages::chunk_has_ended(std::uint32_t place, Operation& operation) {
    if (open_[place] > 0) return false;
    if (!room_.data_on_device) return true;
    const Result<bool> passed = chunk_ends_[place]->passed();
    if (passed.ok() && *passed) look_for_invalid(operation);
    return passed;
}

/// A device that fails has stopped as well.
void DeviceMessages::abandon() {
    for (DeviceStream* stream : {&side_.work(), &side_.out(), &side_.in()}) {
        if (!stream->record(*order_).ok()) continue;
        [[maybe_unused]] const Status at_rest = wait_until_passed(*order_);
    }
    begin_operation();
}

}  // namespace gradcoll
