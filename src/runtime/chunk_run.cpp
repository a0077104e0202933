#include "runtime/chunk_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "runtime/steps.hpp"

namespace gradcoll {
namespace {

/// An entry of noticed_ that is not 0 has one of these values.
enum : std::uint8_t {
    announcing = 1,  ///< the signature is on its way
    noticed          ///< the signature has left, or come
};

/// Returns whether the result is so long that it is written past the caches.
bool has_long_vector(const PlanSpec& spec) {
    return static_cast<std::size_t>(spec.count_elems) * spec.elem_bytes >= least_streamed_bytes;
}

Status differing() {
    return {Code::invalid_argument,
            "its call and this rank's have different datatypes, operations or counts"};
}

}  // namespace

ChunkRun::ChunkRun(std::uint32_t place, const Room& room, DeviceMessages* device)
    : place_(place),
      device_(device),
      ready_(room.steps),
      has_header_(room.slots),
      noticed_(room.steps),
      begun_ns_(room.traced ? room.steps : 0),
      blocks_(room.blocks, room.blocks > 0 ? room.slots : 0),
      packed_(room.slots),
      runs_(room.runs) {
    held_.reserve(room.steps);
    batched_.reserve(room.steps);
}

void ChunkRun::drop() {
    ready_.drop();
    settling_ = Settling::done;
}

void ChunkRun::begin(const Program& program, std::int64_t chunk, const Operation& operation) {
    const Schedule& schedule = program.schedule();
    chunk_ = chunk;
    const bool has_blocks = !program.blocks().empty();
    if (has_blocks)
        blocks_.begin(program.blocks(), operation.plan.spec.elem_bytes,
                      memory_.mirror ? memory_.mirror : memory_.scratch, memory_.blocks);
    view_ = ChunkView(operation.plan, schedule, chunk, operation.binding,
                      {memory_.scratch, has_blocks ? &blocks_ : nullptr});
    packed_.begin(program.packed(), memory_.scratch);
    first_tag_ = operation.tags.base(operation.binding.sequence, chunk);
    held_.clear();
    if (operation.lacks_memory) beginnings_.resize(schedule.steps.size());
    if (device_) {
        device_->begin_chunk(place_);
        settling_ = Settling::running;
    }
    std::fill_n(has_header_.begin(), schedule.slots.size(), std::uint8_t{0});
    if (chunk == 0) std::fill_n(noticed_.begin(), schedule.steps.size(), std::uint8_t{0});
    ready_.begin(program);
}

/// Returns the span of a message that has `bytes` bytes on the wire.
TraceSpan ChunkRun::span_of(const Step& message, std::uint64_t begin_ns, std::size_t bytes,
                            const Operation& operation) const {
    return {.name = name_of(message.kind).data(),
            .begin_ns = begin_ns,
            .end_ns = now_ns(),
            .bytes = bytes,
            .peer = message.peer,
            .level = message.level,
            .chunk = chunk_,
            .operation = operation.binding.sequence};
}

/// Writes the header of a message once: its slot may leave to several peers, and its bytes must not
/// change while the first of them reads it.
void ChunkRun::head_once(const Step& send, const Operation& operation) {
    if (std::exchange(has_header_[send.from.index], std::uint8_t{1}) != 0) return;
    EncodedBlocks* const blocks = view_.blocks_of(send);
    const bool is_plain = blocks != nullptr && blocks->join(send, operation.failed());
    write_header(send, view_.message(send), is_plain, operation);
    if (!operation.failed()) return;
    write_failure(view_.message(send), operation);
    packed_.leave_plain(send.from);
}

/// Completes the message in its slot, and packs it if it travels packed.
void ChunkRun::make_ready(std::uint32_t index, Operation& operation) {
    const Step& send = step(index);
    head_once(send, operation);
    if (!packed_.has(index)) return;
    const std::uint64_t begin_ns = operation.timed ? now_ns() : 0;
    if (packed_.pack_once(index, send.from, view_.message(send), operation.packers.of(send)))
        note_packing("pack", index, begin_ns, operation);
}

/// Returns the bytes that travel, which are not in the slot if the message is packed or encoded on
/// its way.
MessageBytes ChunkRun::moved_bytes(std::uint32_t index) const {
    if (program().coded().has(index)) return plain_bytes(index);
    const Step& message = step(index);
    const MessageBytes plain = view_.message(message);
    if (!packed_.has(index)) return plain;
    return message.kind == StepKind::send ? packed_.sent(index, message.from, plain)
                                          : packed_.room(index, plain);
}

Result<std::size_t> ChunkRun::unpack(std::uint32_t index, std::size_t received_bytes,
                                     Operation& operation) {
    const Step& recv = step(index);
    const std::uint64_t begin_ns = operation.timed ? now_ns() : 0;
    Result<std::size_t> size = packed_.unpack(index, recv.to, received_bytes, view_.message(recv),
                                              operation.packers.of(recv));
    note_packing("unpack", index, begin_ns, operation);
    return size;
}

/// Adds a span for packing, which the thread that has the messages does: it is no step of the plan.
void ChunkRun::note_packing(const char* name, std::uint32_t message, std::uint64_t begin_ns,
                            Operation& operation) const {
    if (!operation.timed) return;
    TraceSpan span =
        span_of(step(message), begin_ns, view_.message(step(message)).size_bytes, operation);
    span.name = name;
    operation.local_ns += span.end_ns - begin_ns;
    operation.stats.codec_ns += span.end_ns - begin_ns;
    if (operation.trace) operation.trace->add(span);
}

std::byte* ChunkRun::mirror_of(std::uint32_t message) const {
    if (!memory_.mirror) return nullptr;
    return memory_.mirror + memory_.mirror_layout->offset_of(program().schedule(), message);
}

Status ChunkRun::start_on_device(std::uint32_t index, std::uint32_t cookie,
                                 Operation& operation) const {
    const Step& message = step(index);
    const MessageBytes bytes = moved_bytes(index);
    DeviceMessage started;
    started.step = &message;
    started.place = place_;
    started.data = bytes.data;
    started.mirror = mirror_of(index);
    started.size_bytes = bytes.size_bytes;
    started.scratch = memory_.scratch;
    started.blocks = memory_.mirror ? view_.blocks_of(message) : nullptr;
    started.tag = first_tag_ + message.stage;
    started.acknowledge_tag = started.tag + static_cast<int>(operation.plan.stage_count);
    started.cookie = cookie;
    return device_->start(started, operation);
}

Status ChunkRun::settle(Operation& operation) {
    if (!ready_.all_finished() || settling_ == Settling::done) return {};
    if (settling_ == Settling::running) {
        GRADCOLL_TRY(device_->end_chunk(place_));
        settling_ = Settling::ending;
    }
    const Result<bool> ended = device_->chunk_has_ended(place_, operation);
    if (ended.ok() && *ended) settling_ = Settling::done;
    return ended.status();
}

/// Returns whether the chunk before `later` must end its `send` first. A shorter last chunk has
/// other steps than the one before, so nothing has to end before its sends.
bool ChunkRun::has_to_end_before(const ChunkRun& later, std::uint32_t send) const {
    return active() && &program() == &later.program() && chunk_ + 1 == later.chunk_ &&
           !ready_.has_finished(send);
}

bool ChunkRun::is_held(std::uint32_t message, const ChunkRun* pacer) const {
    return pacer && step(message).kind == StepKind::send &&
           pacer->has_to_end_before(*this, message);
}

/// Returns whether a notice goes ahead of the message. Messages that a device takes part in have
/// none.
bool ChunkRun::is_opening(std::uint32_t message) const {
    return chunk_ == 0 && !device_ && program().is_opening(message);
}

/// Returns the plain elements of a message that is encoded on its way; for a receive, the place
/// that they come to.
MessageBytes ChunkRun::plain_bytes(std::uint32_t index) const {
    const CodedHops& coded = program().coded();
    const std::size_t size_bytes = view_.bytes_of(step(index).range);
    if (!coded.lands(index)) return {memory_.scratch + coded.offset_bytes(index), size_bytes};
    const Step& decode = step(coded.decode_of(index));
    return {view_.target(decode.to, decode.range), size_bytes};
}

std::span<const ElementRun> ChunkRun::runs_of(std::uint32_t send, const Operation& operation) {
    const CodedHops& coded = program().coded();
    const auto planned = coded.runs_of(send);
    const auto runs = std::span(runs_).subspan(coded.first_run_of(send), planned.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto& [place, range, echo, echo_offset_bytes] = planned[i];
        runs[i] = {view_.source(place, range), view_.bytes_of(range), nullptr};
        if (echo == CodedHops::Run::Echo::in_place) {
            runs[i].decoded = view_.target(place, range);
            runs[i].past_caches = has_long_vector(operation.plan.spec);
        }
        if (echo == CodedHops::Run::Echo::in_scratch)
            runs[i].decoded = memory_.scratch + echo_offset_bytes;
    }
    return runs;
}

/// Starts a message that is encoded on its way. Its encoded bytes are counted when it has left
/// (Completion::coded_bytes). A rank that has failed sends a notice, as in place of plain elements.
Status ChunkRun::start_coded(std::uint32_t index, Operation& operation) {
    const Step& message = step(index);
    const int tag = first_tag_ + message.stage;
    const Codec& codec = operation.codec(message.codec);
    const MessageBytes plain = plain_bytes(index);
    if (message.kind == StepKind::recv) {
        CodedRoom room{plain.data, plain.size_bytes};
        const CodedHops& coded = program().coded();
        if (coded.lands(index) && step(coded.decode_of(index)).kind == StepKind::decode_reduce) {
            room.addend = view_.first_operand(step(coded.decode_of(index)));
            room.exact = &operation.codec(CodecId::exact);
        } else {
            room.past_caches = coded.lands(index) && has_long_vector(operation.plan.spec);
        }
        return operation.lane.start_coded_recv(message.peer, tag, room, codec, cookie_of(index));
    }
    if (operation.failed())
        return start_notice(message, plain.size_bytes, tag, cookie_of(index), operation);
    ++operation.stats.messages_sent;
    return operation.lane.start_coded_send(message.peer, tag, runs_of(index, operation), codec,
                                           cookie_of(index));
}

Status ChunkRun::start_message_of(std::uint32_t index, Operation& operation) {
    const Step& message = step(index);
    const std::uint32_t cookie = cookie_of(index);
    if (operation.given_up && message.kind == StepKind::recv) {
        finish_without_message(index);
        return {};
    }
    if (operation.trace) begun_ns_[index] = now_ns();
    if (operation.lacks_memory) return start_without_memory(index, operation);
    if (program().coded().has(index)) return start_coded(index, operation);
    const int tag = first_tag_ + message.stage;
    const bool on_host = !device_ || !device_->data_on_device();
    if (on_host && message.kind == StepKind::send && is_framed(message))
        make_ready(index, operation);
    const MessageBytes bytes = moved_bytes(index);
    if (operation.failed() && message.kind == StepKind::send && !is_framed(message) && !device_)
        return start_notice(message, bytes.size_bytes, tag, cookie, operation);
    if (operation.change != SignatureChange::none && message.kind == StepKind::send &&
        is_opening(index) && noticed_[index] == 0) {
        noticed_[index] = announcing;
        return start_signature(message, bytes.size_bytes, tag, cookie, operation);
    }
    if (message.kind == StepKind::send)
        operation.stats.packed_away_bytes += view_.message(message).size_bytes - bytes.size_bytes;
    if (device_) return start_on_device(index, cookie, operation);
    return start_message(message, bytes, tag, cookie, operation);
}

Result<bool> ChunkRun::start_messages(Operation& operation, const ChunkRun* pacer) {
    ReadyList& messages = ready_.messages();
    if (messages.empty() && held_.empty()) return false;
    bool any = false;
    std::size_t still_held = 0;
    for (const std::uint32_t index : held_) {
        if (is_held(index, pacer)) {
            held_[still_held++] = index;
            continue;
        }
        any = true;
        GRADCOLL_TRY(start_message_of(index, operation));
    }
    held_.resize(still_held);
    while (!messages.empty()) {
        const std::uint32_t index = messages.pop();
        if (is_held(index, pacer)) {
            held_.push_back(index);
            continue;
        }
        any = true;
        GRADCOLL_TRY(start_message_of(index, operation));
    }
    return any;
}

bool ChunkRun::pick_local(const Operation& operation, LocalStep& out) {
    if (!has_local()) return false;
    const std::uint32_t index = ready_.locals().pop();
    out = {.step = &step(index),
           .view = &view_,
           .operation = &operation,
           .chunk = chunk_,
           .residual_first_elem = program().residual_first_elem(index),
           .cookie = cookie_of(index),
           .skipped = operation.failed()};
    const CodedHops& coded = program().coded();
    if (coded.is_idle(index)) out.skipped = true;
    if (coded.is_decoded(index)) out.decoded = memory_.scratch + coded.offset_bytes(index);
    return true;
}

void ChunkRun::finish_local(const LocalStep& local, LocalResult result, Operation& operation) {
    const std::uint64_t took_ns = result.end_ns - result.begin_ns;
    operation.local_ns += took_ns;
    if (uses_codec(local.kind())) operation.stats.codec_ns += took_ns;
    if (!result.status.ok()) operation.fail(std::move(result.status));
    ready_.finish(step_of(local.cookie));
}

void ChunkRun::batch_local(DeviceBatch& batch, const Operation& operation) {
    while (has_local()) {
        const std::uint32_t index = ready_.locals().pop();
        batched_.push_back(index);
        if (operation.failed()) continue;
        const Step& local = step(index);
        const bool encodes = local.kind == StepKind::encode;
        batch.add(local, view_,
                  encodes ? view_.residual(program().residual_first_elem(index), local.range.begin)
                          : nullptr);
    }
}

void ChunkRun::finish_batched() {
    for (const std::uint32_t index : batched_) ready_.finish(index);
    batched_.clear();
}

/// Checks the length alone, since the lane has checked what it decoded.
void ChunkRun::check_decoded(std::uint32_t recv, std::size_t received_bytes, Operation& operation) {
    const MessageBytes expected = plain_bytes(recv);
    if (received_bytes == expected.size_bytes) return;
    const Step& message = step(recv);
    if (const auto failure =
            FailureNotice::instead_of(expected.size_bytes, expected.data, received_bytes))
        return operation.fail(of_message(message, told(*failure)), *failure);
    operation.fail(of_message(
        message, Status(Code::corrupt, fmt::format("{} bytes of elements, expected {}",
                                                   received_bytes, expected.size_bytes))));
}

/// Fails the operation unless the message is what the plan expects.
void ChunkRun::check_arrived(std::uint32_t recv, std::size_t received_bytes, Operation& operation) {
    const Step& message = step(recv);
    if (program().coded().has(recv)) return check_decoded(recv, received_bytes, operation);
    if (packed_.has(recv)) {
        const Result<std::size_t> unpacked = unpack(recv, received_bytes, operation);
        if (!unpacked.ok()) return operation.fail(of_message(message, unpacked.status()));
        received_bytes = *unpacked;
    }
    const MessageBytes expected = view_.message(message);
    const Arrival arrival{.message = memory_.mirror ? mirror_of(recv) : expected.data,
                          .expected_bytes = expected.size_bytes,
                          .received_bytes = received_bytes,
                          .blocks = view_.blocks_of(message)};
    if (const auto failure = failure_in(message, arrival))
        return operation.fail(of_message(message, told(*failure)), *failure);
    Status status = check_received(message, arrival, operation);
    if (!status.ok()) operation.fail(std::move(status));
}

/// Returns whether a signature has arrived, and nothing else. Fails the operation if it is another
/// signature, or if it stands ahead of a framed message, whose sender's call has no codec.
bool ChunkRun::was_notice(std::uint32_t index, std::size_t received_bytes, Operation& operation) {
    const Step& recv = step(index);
    if (device_ || chunk_ != 0 || noticed_[index] != 0) return false;
    if (!is_framed(recv) && !is_opening(index)) return false;
    const MessageBytes room = moved_bytes(index);
    const auto signature = SignatureNotice::ahead_of(room.size_bytes, room.data, received_bytes);
    if (!signature) return false;
    noticed_[index] = noticed;
    if (is_framed(recv) || *signature != operation.binding.signature)
        operation.fail(of_message(recv, differing()));
    return true;
}

/// Fails the operation if its signature changed on this rank, but not on the sender's: they were
/// alike before.
void ChunkRun::check_was_announced(std::uint32_t index, Operation& operation) const {
    if (operation.change == SignatureChange::changed && is_opening(index) && noticed_[index] == 0)
        operation.fail(of_message(step(index), differing()));
}

/// A notice whose first bytes are damaged may have been one ahead of a message, which nobody takes
/// then.
void ChunkRun::note_damage(std::uint32_t index, std::size_t received_bytes,
                           Operation& operation) const {
    const Step& recv = step(index);
    const std::int64_t first = view_.in_vector(recv.range.begin);
    operation.fail(of_message(
        recv, Status(Code::corrupt,
                     fmt::format("elements {} to {} came damaged: the checksum of these {} bytes "
                                 "is not that of what was sent",
                                 first, first + recv.range.size() - 1, received_bytes))));
    const MessageBytes room = moved_bytes(index);
    if (chunk_ == 0 && SignatureNotice::precedes(room.size_bytes) &&
        received_bytes == SignatureNotice::size_bytes &&
        !SignatureNotice::ahead_of(room.size_bytes, room.data, received_bytes))
        operation.leaves_messages = true;
}

Status ChunkRun::finish_message(std::uint32_t index, std::size_t received_bytes,
                                Operation& operation) {
    if (operation.lacks_memory) return finish_without_memory(index, received_bytes, operation);
    const Step& message = step(index);
    const bool receives = message.kind == StepKind::recv;
    if (receives ? was_notice(index, received_bytes, operation)
                 : std::exchange(noticed_[index], noticed) == announcing)
        return start_message_of(index, operation);
    if (operation.trace) {
        const std::size_t bytes = receives ? received_bytes : moved_bytes(index).size_bytes;
        operation.trace->add_overlapping(span_of(message, begun_ns_[index], bytes, operation));
    }
    if (receives) {
        check_arrived(index, received_bytes, operation);
        check_was_announced(index, operation);
        if (is_framed(message)) has_header_[message.to.index] = 0;  // it may be passed on
    }
    ready_.finish(index);
    return {};
}

std::size_t ChunkRun::whole_bytes(const Step& message) const {
    const Slot slot = message.kind == StepKind::send ? message.from : message.to;
    return slot.where() == Space::scratch ? program().schedule().slots[slot.index].size_bytes
                                          : view_.bytes_of(message.range);
}

/// Starts a message of an operation without scratch memory: a receive has too little room, and its
/// message is dropped when it has come.
Status ChunkRun::start_without_memory(std::uint32_t index, Operation& operation) {
    const Step& message = step(index);
    const int tag = first_tag_ + message.stage;
    if (message.kind == StepKind::send)
        return start_notice(message, whole_bytes(message), tag, cookie_of(index), operation);
    auto& room = beginnings_[index];
    return operation.lane.start_recv(message.peer, tag, room.data(),
                                     std::min(room.size(), whole_bytes(message)), cookie_of(index));
}

Status ChunkRun::finish_without_memory(std::uint32_t index, std::size_t received_bytes,
                                       Operation& operation) {
    const Step& message = step(index);
    const bool may_be_followed =
        message.kind == StepKind::recv && chunk_ == 0 && noticed_[index] == 0 &&
        SignatureNotice::ahead_of(whole_bytes(message), beginnings_[index].data(), received_bytes);
    if (!may_be_followed) {
        finish_without_message(index);
        return {};
    }
    noticed_[index] = noticed;
    return start_without_memory(index, operation);
}

void ChunkRun::finish_unfit(std::uint32_t index, Status why, Operation& operation) {
    operation.fail(of_message(step(index), why));
    finish_without_message(index);
}

void ChunkRun::finish_without_message(std::uint32_t index) {
    const Step& message = step(index);
    const bool receives = message.kind == StepKind::recv;
    if (receives && is_framed(message)) has_header_[message.to.index] = 0;
    ready_.finish(index);
}

void ChunkRun::add_awaited(std::vector<const Step*>& receives) const {
    if (ready_.all_finished()) return;
    const auto steps = static_cast<std::uint32_t>(program().step_count());
    for (std::uint32_t index = 0; index < steps; ++index)
        if (step(index).kind == StepKind::recv && ready_.is_ready(index))
            receives.push_back(&step(index));
}

/// Finishes all messages that were under way; those that become ready by that were not.
void ChunkRun::finish_dropped() {
    if (ready_.all_finished()) return;
    std::vector<std::uint32_t> dropped;
    const auto steps = static_cast<std::uint32_t>(program().step_count());
    for (std::uint32_t index = 0; index < steps; ++index)
        if (is_message(step(index).kind) && ready_.is_ready(index) &&
            std::find(held_.begin(), held_.end(), index) == held_.end())
            dropped.push_back(index);
    for (const std::uint32_t index : dropped) finish_without_message(index);
}

}  // namespace gradcoll
