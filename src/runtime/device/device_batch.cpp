#include "runtime/device/device_batch.hpp"

#include <algorithm>

namespace gradcoll {
namespace {

CodecWork work_of(StepKind step, bool with_residual) {
    if (step == StepKind::decode) return CodecWork::decode;
    if (step == StepKind::decode_reduce) return CodecWork::decode_sum;
    return with_residual ? CodecWork::encode_with_residual : CodecWork::encode;
}

}  // namespace

DeviceBatch::DeviceBatch(std::size_t steps) {
    works_.reserve(steps);
    codec_jobs_.reserve(steps);
    reduce_jobs_.reserve(steps);
    moves_.reserve(steps);
}

void DeviceBatch::add(const Step& step, const ChunkView& view, std::byte* residual) {
    if (step.range.empty()) return;
    Work work;
    work.kind = {step.kind, step.codec, residual != nullptr};
    work.from = view.source(step.from, step.range);
    work.to = view.target(step.to, step.range);
    work.count = static_cast<std::size_t>(step.range.size());
    work.residual = residual;
    if (step.kind == StepKind::decode_reduce || step.kind == StepKind::reduce)
        work.base = view.first_operand(step);
    works_.push_back(view.blocks_of(step) ? work_on_blocks(work, step, view) : work);
}

/// Adds the tables by which kernels find blocks, and which encoders fill.
DeviceBatch::Work DeviceBatch::work_on_blocks(Work work, const Step& step, const ChunkView& view) {
    const EncodedBlocks& blocks = *view.blocks_of(step);
    if (step.kind != StepKind::encode) {
        const std::span<CodedBlock> from = blocks.of(step, step.from);
        work.from = view.scratch();
        work.from_blocks = from.data();
        work.block_count = from.size();
    }
    if (step.kind == StepKind::encode || step.kind == StepKind::copy) {
        work.to = view.scratch();
        work.to_blocks = blocks.of(step, step.to).data();
        work.blocks_at = view.offset_in_scratch(step.to);
    }
    if (step.kind == StepKind::copy) blocks.make_room(step, work.blocks_at);
    return work;
}

Status DeviceBatch::launch(DeviceSide& side, const Operation& operation, std::uint32_t* invalid) {
    Status status;
    while (!works_.empty()) {
        const Kind kind = works_.back().kind;
        if (status.ok())
            status = kind.step == StepKind::reduce ? launch_reduce(kind, side, operation)
                     : kind.step == StepKind::copy ? launch_copies(kind, side, operation)
                                                   : launch_codec(kind, side, operation, invalid);
        std::erase_if(works_, [&](const Work& work) { return work.kind == kind; });
    }
    return status;
}

Status DeviceBatch::launch_codec(const Kind& kind, DeviceSide& side, const Operation& operation,
                                 std::uint32_t* invalid) {
    codec_jobs_.clear();
    for (const Work& work : works_)
        if (work.kind == kind)
            codec_jobs_.push_back(
                {work.from, work.residual, work.base, work.to, work.count,
                 kind.step == StepKind::encode ? work.to_blocks : work.from_blocks,
                 work.blocks_at});
    CodecLaunch launch;
    launch.work = work_of(kind.step, kind.with_residual);
    launch.codec = plain(kind.codec);
    launch.parameters = operation.codec(kind.codec).parameters;
    launch.type = operation.plan.spec.type;
    launch.stream = side.work().native();
    launch.invalid = invalid;
    return side.plugin().launch_codec(launch, codec_jobs_);
}

Status DeviceBatch::launch_reduce(const Kind& kind, DeviceSide& side, const Operation& operation) {
    reduce_jobs_.clear();
    for (const Work& work : works_)
        if (work.kind == kind) reduce_jobs_.push_back({work.base, work.from, work.to, work.count});
    const ReduceLaunch launch{operation.binding.op, operation.plan.spec.type, side.work().native()};
    return side.plugin().launch_reduce(launch, reduce_jobs_);
}

Status DeviceBatch::launch_moves(const Kind& kind, DeviceSide& side) {
    moves_.clear();
    for (const Work& work : works_)
        if (work.kind == kind)
            moves_.push_back(
                {work.from, work.to, work.from_blocks, work.to_blocks, work.block_count});
    return side.plugin().move_blocks(side.work().native(), moves_);
}

/// Copies raw elements, unless both ends are payloads of one codec.
Status DeviceBatch::launch_copies(const Kind& kind, DeviceSide& side, const Operation& operation) {
    if (!has_fixed_rate(kind.codec)) return launch_moves(kind, side);
    for (const Work& work : works_)
        if (work.kind == kind)
            GRADCOLL_TRY(side.work().copy(
                work.to, work.from,
                bound_bytes(kind.codec, operation.plan.spec.elem_bytes, work.count)));
    return {};
}

}  // namespace gradcoll
