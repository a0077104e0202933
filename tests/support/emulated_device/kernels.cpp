#include "kernels.hpp"

#include <fmt/format.h>

#include "device.hpp"
#include "memory.hpp"
#include "settings.hpp"

namespace gradcoll::emulated {
namespace {

/// Refuses bad alignment and what a device does not reach; else puts the worker's address in place.
template <class Pointer>
Status reach(Pointer& pointer, std::size_t size_bytes, std::size_t alignment) {
    if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0)
        return {Code::invalid_buffer, fmt::format("{} is not aligned to {} bytes",
                                                  static_cast<const void*>(pointer), alignment)};
    const auto bytes = Memory::of_process().reach(pointer, size_bytes, Access::kernel);
    if (!bytes.ok()) return bytes.status();
    pointer = reinterpret_cast<Pointer>(*bytes);
    return {};
}

std::size_t block_count(const CodecLaunch& launch, const CodecJob& job) {
    const std::size_t most = codec_block_elems(launch.codec, launch.parameters);
    return (job.count + most - 1) / most;
}

bool has_blocks(const CodecLaunch& launch) {
    return !has_fixed_rate(launch.codec, launch.parameters);
}

/// Reaches a table of blocks.
template <class Blocks>
Status reach_blocks(Blocks*& blocks, std::size_t count) {
    return reach(blocks, count * sizeof(CodedBlock), alignof(CodedBlock));
}

/// Returns the job with the addresses that a worker sees, except for where blocks lie: it asks for
/// each.
Result<CodecJob> reached(const CodecLaunch& launch, CodecJob job) {
    const std::size_t element = element_bytes(launch.type);
    const std::size_t values = job.count * element;
    const std::size_t payload = bound_bytes(launch.codec, launch.parameters, element, job.count);
    const std::size_t residual = launch.type == ElementType::f64 ? sizeof(double) : sizeof(float);
    constexpr std::size_t of_payload = 2;
    const bool is_encoder = encodes(launch.work);
    const bool is_variable = has_blocks(launch);
    if (is_variable) GRADCOLL_TRY(reach_blocks(job.blocks, block_count(launch, job)));
    if (is_encoder || !is_variable)
        GRADCOLL_TRY(
            reach(job.in, is_encoder ? values : payload, is_encoder ? element : of_payload));
    if (!is_encoder || !is_variable)
        GRADCOLL_TRY(
            reach(job.out, is_encoder ? payload : values, is_encoder ? of_payload : element));
    if (launch.work == CodecWork::encode_with_residual)
        GRADCOLL_TRY(reach(job.residual, job.count * residual, residual));
    if (launch.work == CodecWork::decode_sum) GRADCOLL_TRY(reach(job.base, values, element));
    return job;
}

Result<ReduceJob> reached(const ReduceLaunch& launch, ReduceJob job) {
    const std::size_t element = element_bytes(launch.type);
    GRADCOLL_TRY(reach(job.a, job.count * element, element));
    GRADCOLL_TRY(reach(job.b, job.count * element, element));
    GRADCOLL_TRY(reach(job.out, job.count * element, element));
    return job;
}

struct MoveLaunch {
    void* stream;
};
Result<BlockMove> reached(const MoveLaunch&, BlockMove move) {
    GRADCOLL_TRY(reach_blocks(move.from, move.count));
    GRADCOLL_TRY(reach_blocks(move.to, move.count));
    return move;
}

bool counts_are_sane(auto jobs) {
    for (const auto& job : jobs)
        if (job.count > PTRDIFF_MAX / sizeof(double)) return false;
    return true;
}

/// Checks all jobs, then moves them into a task that `fill` completes.
template <class Launch, class Job, class Fill>
Status enqueue(const Launch& launch, std::span<const Job> jobs, std::vector<Job> Task::*field,
               Fill fill) {
    if (!counts_are_sane(jobs)) return {Code::invalid_buffer, "a count is beyond all memory"};
    const auto queue = device_of_process(settings().current).queue_behind(launch.stream);
    if (!queue.ok()) return queue.status();
    Status status;
    const auto check = [&](const Job& job) {
        if (status.ok() && job.count > 0) status = reached(launch, job).status();
    };
    for (const Job& job : jobs) check(job);
    if (!status.ok()) return status;
    (*queue)->push([&](Task& task) {
        fill(task);
        (task.*field).clear();
        for (const Job& job : jobs)
            if (job.count > 0) (task.*field).push_back(*reached(launch, job));
    });
    return {};
}

}  // namespace

bool runs_codec(CodecId codec, const CodecParameters& parameters, ElementType type) {
    return codec == plain(codec) && is_registered(codec) && parameters.packing == Packing::none &&
           codec != CodecId::bound && codec_supports(codec, type);
}

Status launch_codec(const CodecLaunch& launch, std::span<const CodecJob> jobs) {
    if (launch.parameters.call_parts != 0 ||
        !runs_codec(launch.codec, launch.parameters, launch.type))
        return {Code::unsupported, fmt::format("codec {} of {} has no kernels",
                                               number_of(launch.codec), name_of(launch.type))};
    const auto codec = codec_for(launch.codec, launch.parameters, launch.type);
    if (!codec.ok()) return codec.status();
    std::uint32_t* invalid = launch.invalid;
    if (invalid != nullptr) GRADCOLL_TRY(reach(invalid, sizeof *invalid, alignof(std::uint32_t)));
    return enqueue(launch, jobs, &Task::codec_jobs, [&](Task& task) {
        task.kind = Task::Kind::codec;
        task.work = launch.work;
        task.codec = *codec;
        task.invalid = invalid;
    });
}

Status move_blocks(void* stream, std::span<const BlockMove> moves) {
    return enqueue(MoveLaunch{stream}, moves, &Task::moves,
                   [](Task& task) { task.kind = Task::Kind::move; });
}

Status launch_reduce(const ReduceLaunch& launch, std::span<const ReduceJob> jobs) {
    const Reducer reducer = reducer_for(launch.op, launch.type);
    if (!reducer)
        return {Code::unsupported,
                fmt::format("{} is not defined for {}", name_of(launch.op), name_of(launch.type))};
    return enqueue(launch, jobs, &Task::reduce_jobs, [&](Task& task) {
        task.kind = Task::Kind::reduce;
        task.reducer = reducer;
    });
}

}  // namespace gradcoll::emulated
