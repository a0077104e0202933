#include "runtime/chunk_run.hpp"

#include <algorithm>
#include <utility>

#include "runtime/message.hpp"
#include "runtime/step_kernels.hpp"

namespace gradcoll {
namespace {

constexpr bool uses_codec(StepKind kind) {
    return kind == StepKind::encode || kind == StepKind::decode || kind == StepKind::decode_reduce;
}

Status run_timed(const Step& step, const ChunkView& view, Operation& operation,
                 std::int64_t residual) {
    const std::uint64_t begin = now_ns();
    Status status = run_local_step(step, view, operation, residual);
    const std::uint64_t spent = now_ns() - begin;
    operation.local_ns += spent;
    if (uses_codec(step.kind)) operation.stats.codec_ns += spent;
    return status;
}

}  // namespace

ChunkRun::ChunkRun(std::uint32_t place, std::size_t max_steps, std::size_t max_slots, Arena scratch)
    : place_(place), scratch_(std::move(scratch)), waiting_for_(max_steps), has_header_(max_slots) {
    messages_.reserve(max_steps);
    locals_.reserve(max_steps);
}

void ChunkRun::begin(const Program& program, std::int64_t chunk, const Operation& operation) {
    const Schedule& schedule = program.schedule();
    program_ = &program;
    view_ = ChunkView(operation.plan, schedule, chunk, operation.binding, scratch_.data());
    first_tag_ = operation.tags.base(operation.binding.sequence, chunk);
    unfinished_ = program.step_count();
    messages_.clear();
    locals_.clear();
    std::fill_n(has_header_.begin(), schedule.slots.size(), std::uint8_t{0});
    for (std::size_t i = 0; i < unfinished_; ++i) waiting_for_[i] = schedule.steps[i].dep_count;
    for (const std::uint32_t root : program.roots()) make_ready(root);
}

void ChunkRun::make_ready(std::uint32_t index) {
    (is_message(step(index).kind) ? messages_ : locals_).push(index);
}

void ChunkRun::finish(std::uint32_t index) {
    --unfinished_;
    for (const std::uint32_t next : program_->successors(index))
        if (--waiting_for_[next] == 0) make_ready(next);
}

/// A slot may leave to several peers: its bytes must not change while the first of them reads it.
void ChunkRun::head_once(const Step& send, const Operation& operation) {
    if (std::exchange(has_header_[send.from.index], std::uint8_t{1}) == 0)
        write_message_header(send, view_, operation);
}

Result<bool> ChunkRun::start_messages(Operation& operation) {
    if (messages_.empty()) return false;
    while (!messages_.empty()) {
        const std::uint32_t index = messages_.pop();
        const Step& message = step(index);
        if (message.kind == StepKind::send && is_framed(message)) head_once(message, operation);
        GRADCOLL_TRY(start_message(message, view_, first_tag_ + message.stage, place_ << 24 | index,
                                   operation));
    }
    return true;
}

std::int64_t ChunkRun::run_local(Operation& operation) {
    const std::uint32_t index = locals_.pop();
    if (!operation.failed()) {
        const std::int64_t residual = program_->residual_first_elem(index);
        Status status = operation.timed ? run_timed(step(index), view_, operation, residual)
                                        : run_local_step(step(index), view_, operation, residual);
        if (!status.ok()) operation.fail(std::move(status));
    }
    finish(index);
    return step(index).range.size();
}

void ChunkRun::finish_message(std::uint32_t index, std::size_t received_bytes,
                              Operation& operation) {
    const Step& message = step(index);
    if (message.kind == StepKind::recv) {
        Status status = check_received(message, view_, received_bytes, operation);
        if (!status.ok()) operation.fail(std::move(status));
        if (is_framed(message)) has_header_[message.to.index] = 0;  // it may be passed on
    }
    finish(index);
}

}  // namespace gradcoll
