// runtime/device/device_messages.cpp - all messages at once: what they wait for, and what follows
// when it has come.
#include "runtime/device/device_messages.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "memory/device.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t completions_per_look = 64;

}  // namespace

Result<std::unique_ptr<DeviceMessages>> DeviceMessages::make(DeviceSide& side, Lane& lane,
                                                             const Room& room) {
    std::unique_ptr<DeviceMessages> made(new DeviceMessages(side, lane, room));
    Device& device = side.device();
    GRADCOLL_TRY(take(made->invalid_,
                      DeviceArea::make(device, DeviceArea::Kind::pinned, sizeof(std::uint32_t))));
    const std::size_t count = room.places * room.messages;
    made->entries_.resize(count);
    made->chunk_ends_.resize(room.places);
    std::vector<std::unique_ptr<DeviceMark>*> marks = {&made->order_};
    for (Entry& entry : made->entries_) marks.push_back(&entry.mark);
    for (auto& mark : made->chunk_ends_) marks.push_back(&mark);
    for (std::unique_ptr<DeviceMark>* mark : marks) GRADCOLL_TRY(take(*mark, device.make_mark()));
    made->free_.reserve(count);
    made->on_device_.reserve(count);
    made->reports_.reserve(count);
    made->mirrored_.resize(room.places * room.slots);
    made->open_.resize(room.places);
    made->lane_done_.resize(completions_per_look);
    made->begin_operation();
    return made;
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

Status DeviceMessages::start(const DeviceMessage& message, Operation& operation) {
    if (free_.empty()) return lane_full(entries_.size());
    Entry& entry = entries_[free_.back()];
    free_.pop_back();
    ++open_[message.place];
    entry.message = message;
    entry.by_reference = false;
    entry.answers = 1;
    if (!message.is_send()) return start_receive(entry);
    ++operation.stats.messages_sent;
    if (!message.blocks) operation.stats.bytes_sent += message.size_bytes;
    return stands_for_failure(message, operation) ? leave_notice(entry, operation)
                                                  : start_send(entry);
}

/// Does what follows now that what the entry waited for has come: every transition but the first.
Status DeviceMessages::advance(Entry& entry, Operation& operation) {
    switch (entry.state) {
        case State::making_bytes:
            return leave_when_made(entry, operation);
        case State::joining_blocks:
            return leave(entry, entry.message.mirror, entry.message.size_bytes);
        case State::placing_header:
            return leave_directly(entry, operation);
        case State::leaving:
            return take_answer(entry);
        case State::awaiting_room:
            return arrive(entry);
        case State::arriving:
            return take_arrival(entry, operation);
        case State::copying_in:
            return end(entry);
        case State::copying_from_peer:
            return take_copy(entry);
        case State::fetching_header:
            return take_header(entry);
        case State::acknowledging:
            return end(entry);
        case State::free:
            break;
    }
    return Status(Code::internal, "a message that has ended went on");
}

/// Lets the entry wait for its mark, which has been recorded or is about to be.
void DeviceMessages::wait_for_mark(Entry& entry, State state) {
    entry.state = state;
    on_device_.push_back(index_of(entry));
}

void DeviceMessages::report(Entry& entry, std::size_t received_bytes) {
    reports_.push_back({entry.message.cookie, received_bytes, {}});
}

Status DeviceMessages::end(Entry& entry) {
    entry.state = State::free;
    --open_[entry.message.place];
    free_.push_back(index_of(entry));
    return {};
}

Status DeviceMessages::poll_lane(Operation& operation) {
    const Result<std::size_t> count = lane_.poll(lane_done_);
    if (!count.ok()) return count.status();
    for (std::size_t i = 0; i < *count; ++i) {
        const Completion& done = lane_done_[i];
        if (!done.status.ok()) return done.status;
        Entry& entry = entries_[done.cookie & ~acknowledgement_bit];
        entry.received_bytes = done.received_bytes;
        GRADCOLL_TRY(advance(entry, operation));
    }
    return {};
}

/// Looks at each waiting entry once. Entries that begin to wait meanwhile come behind the others,
/// and are looked at the next time.
Status DeviceMessages::poll_device(Operation& operation) {
    const std::size_t count = on_device_.size();
    std::size_t left = 0;
    for (std::size_t i = 0; i < count; ++i) {
        Entry& entry = entries_[on_device_[i]];
        const Result<bool> passed = entry.mark->passed();
        if (!passed.ok()) return passed.status();
        if (*passed)
            GRADCOLL_TRY(advance(entry, operation));
        else
            on_device_[left++] = on_device_[i];
    }
    on_device_.erase(on_device_.begin() + static_cast<std::ptrdiff_t>(left),
                     on_device_.begin() + static_cast<std::ptrdiff_t>(count));
    return {};
}

Result<std::size_t> DeviceMessages::poll(Operation& operation, std::span<Completion> out) {
    GRADCOLL_TRY(poll_lane(operation));
    GRADCOLL_TRY(poll_device(operation));
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
    Result<bool> passed = chunk_ends_[place]->passed();
    if (passed.ok() && *passed) check_invalid(operation);
    return passed;
}

/// Waits until the device is at rest and frees all entries. A device that fails has stopped as
/// well.
void DeviceMessages::abandon() {
    for (DeviceStream* stream : {&side_.work(), &side_.out(), &side_.in()}) {
        if (!stream->record(*order_).ok()) continue;
        [[maybe_unused]] const Status at_rest = wait_until_passed(*order_);
    }
    // Else the next operation would take what is left in their mirrors for its own bytes.
    for (Entry& entry : entries_) entry.state = State::free;
    begin_operation();
}

std::uint32_t* DeviceMessages::invalid() const {
    return reinterpret_cast<std::uint32_t*>(invalid_.data());
}

/// Fails the operation if the device has written the word, as it does when a kernel meets an
/// invalid payload.
void DeviceMessages::check_invalid(Operation& operation) {
    if (std::atomic_ref(*invalid()).load(std::memory_order_relaxed) == 0) return;
    operation.fail(
        Status(Code::corrupt, "a payload that was decoded on the device is no valid encoding"));
}

bool DeviceMessages::is_direct(const DeviceMessage& message) const {
    return room_.data_on_device && !message.blocks &&
           room_.direct[static_cast<std::size_t>(message.step->peer)];
}

/// Returns whether a message may travel as a reference. All ranks know a message's size and who
/// shares; the receiver sees whether this rank does refer.
bool DeviceMessages::may_refer(const DeviceMessage& message) const {
    return message.size_bytes >= least_referred_bytes && side_.shares_with(message.step->peer) &&
           has_fixed_rate(message.step->codec) && packing_of(message.step->codec) == Packing::none;
}

/// Returns whether a notice takes the place of the message: plain elements have no header that
/// would tell of the failure.
bool DeviceMessages::stands_for_failure(const DeviceMessage& message, const Operation& operation) {
    return operation.failed() && message.header_bytes() == 0 && !message.blocks;
}

std::uint32_t DeviceMessages::index_of(const Entry& entry) const {
    return static_cast<std::uint32_t>(&entry - entries_.data());
}

/// Returns what was done for the message's scratch slot, which is written once in a chunk.
DeviceMessages::Mirrored& DeviceMessages::mirrored(const DeviceMessage& message) {
    return mirrored_[message.place * room_.slots + message.slot().index];
}

}  // namespace gradcoll
