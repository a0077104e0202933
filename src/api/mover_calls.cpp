// GC_Mover_create and the calls on movers.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "api/mover_handle.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "device/devices.hpp"
#include "mpi/boundary.hpp"
#include "mpi/request.hpp"
#include "topology/sources/cluster/exchange.hpp"

namespace gradcoll {
namespace {

using mover::Execution;
using mover::Tick;

// ---- making one

Status check_pipeline_rank(int pipeline_rank, std::size_t ranks) {
    if (pipeline_rank >= 0 && std::cmp_less(pipeline_rank, ranks)) return {};
    return {Code::invalid_argument,
            fmt::format("pipeline_rank is {}; allowed are 0 to {}", pipeline_rank, ranks - 1)};
}

/// MakeMachine makes the machine, once there is a plan.
using MakeMachine = Result<std::unique_ptr<mover::Machine>> (*)(void* stream);

Result<std::unique_ptr<mover::Machine>> plain(void*) {
    return mover::plain_machine();
}

Result<std::unique_ptr<mover::Machine>> on_device(void* stream) {
    Devices& devices = Devices::of_process();
    const DevicePlugin* plugin = devices.look_for_plugin();
    if (plugin == nullptr) return Status(Code::unsupported, devices.why_inactive());
    Device* device = GRADCOLL_VALUE(plugin->device(plugin->current_device()));
    return mover::device_machine(*device, stream);
}

Result<std::unique_ptr<GC_Mover_s>> make_mover(const std::string& text, int pipeline_rank,
                                               MakeMachine make_machine, void* stream) {
    ReadPlan read = GRADCOLL_VALUE(read_plan(text));
    GRADCOLL_TRY(check_pipeline_rank(pipeline_rank, read.plan.ranks.size()));
    const auto rank = static_cast<std::size_t>(pipeline_rank);
    auto made = std::make_unique<GC_Mover_s>();
    made->pipeline_rank = pipeline_rank;
    made->inputs = std::move(read.inputs);
    made->layer_names = std::move(read.scene.program.layer_names);
    made->tensor_names = std::move(read.scene.program.tensor_names);
    made->planned_step = read.plan.step_ticks;
    made->device_bytes = read.scene.rooms.ranks[rank].device_bytes;
    made->planned_rate = read.scene.rooms.ranks[rank].lane.bytes_per_second;
    auto machine = GRADCOLL_VALUE(make_machine(stream));
    made->execution = GRADCOLL_VALUE(
        Execution::make(std::move(read.scene.program.ranks[rank]), std::move(read.plan.ranks[rank]),
                        read.plan.step_ticks, room_of(read.scene, rank), std::move(machine)));
    return made;
}

/// Returns the text of the file on rank 0, an empty one on other ranks.
Result<std::string> text_of(MPI_Comm comm, const char* path) {
    int rank = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank"));
    if (rank != 0) return std::string();
    if (path == nullptr) return Status(Code::invalid_argument, "path is a null pointer");
    return read_file(path);
}

Status create_mover(MPI_Comm comm, const char* path, int pipeline_rank, GC_Mover* out,
                    MakeMachine make_machine, void* stream) {
    GRADCOLL_TRY(check_intracomm(comm));
    const std::string text = GRADCOLL_VALUE(share_result(comm, text_of(comm, path)));
    if (out == nullptr) return {Code::invalid_argument, "mover is a null pointer"};
    auto made = GRADCOLL_VALUE(make_mover(text, pipeline_rank, make_machine, stream));
    made->comm = comm;
    *out = made.release();
    return {};
}

// ---- what it is asked

double microseconds(Tick ticks) {
    return static_cast<double>(ticks) / 1000;
}

/// Returns the name of a layer; an empty one if the operator is for all layers.
const char* layer_text(const GC_Mover_s& mover, std::int32_t layer) {
    return layer < 0 ? "" : mover.layer_names[static_cast<std::size_t>(layer)].c_str();
}

Status check_number(const char* what, int number, std::size_t count) {
    if (number >= 0 && std::cmp_less(number, count)) return {};
    return {Code::invalid_argument,
            fmt::format("{} is {}; the plan has {} of them, from 0 on", what, number, count)};
}

Status get_operator(const GC_Mover_s& mover, int op, GC_Mover_operator* out) {
    const Execution& execution = *mover.execution;
    GRADCOLL_TRY(check_number("op", op, execution.rank().operators.size()));
    if (out == nullptr) return {Code::invalid_argument, "out is a null pointer"};
    const auto index = static_cast<std::size_t>(op);
    const mover::Operator& described = execution.rank().operators[index];
    const Tick planned = execution.moves().starts[index];
    const mover::Span measured = execution.measured(op);
    *out = {.kind = name_of(described.kind).data(),
            .layer = layer_text(mover, described.layer),
            .part = described.part,
            .micro_batch = described.micro_batch,
            .planned_begin_us = microseconds(planned),
            .planned_end_us = microseconds(planned + described.duration),
            .measured_begin_us = microseconds(measured.start),
            .measured_end_us = microseconds(measured.end)};
    return {};
}

Status get_tensor(const GC_Mover_s& mover, int tensor, GC_Mover_tensor* out) {
    const mover::RankProgram& rank = mover.execution->rank();
    GRADCOLL_TRY(check_number("tensor", tensor, rank.tensors.size()));
    if (out == nullptr) return {Code::invalid_argument, "out is a null pointer"};
    const mover::DeviceTensor& described = rank.tensors[static_cast<std::size_t>(tensor)];
    *out = {.kind = name_of(described.kind).data(),
            .layer = layer_text(mover, described.layer),
            .name = mover.tensor_names[static_cast<std::size_t>(described.name)].c_str(),
            .micro_batch = described.micro_batch,
            .bytes = described.bytes,
            .stays = described.stays ? 1 : 0,
            .first_use = described.uses.empty() ? -1 : described.uses.front(),
            .last_use = described.uses.empty() ? -1 : described.uses.back(),
            .moves = mover.execution->moves_tensor(tensor) ? 1 : 0};
    return {};
}

Status get_stats(const GC_Mover_s& mover, GC_Mover_stats* out) {
    if (out == nullptr) return {Code::invalid_argument, "stats is a null pointer"};
    const mover::ExecutionFigures figures = mover.execution->figures();
    *out = {.steps = figures.steps,
            .moves = figures.moves,
            .moved_bytes = figures.moved_bytes,
            .moving_us = microseconds(figures.moving),
            .overlap = figures.overlap(),
            .waits_for_tensors = figures.waits_for_tensors,
            .waits_for_memory = figures.waits_for_memory,
            .waited_for_tensors_us = microseconds(figures.waited_for_tensors),
            .waited_for_memory_us = microseconds(figures.waited_for_memory),
            .longest_wait_us = microseconds(figures.longest_wait),
            .longest_wait_of = figures.longest_wait_of,
            .planned_step_us = microseconds(mover.planned_step),
            .measured_step_us = microseconds(figures.step),
            .device_bytes = mover.device_bytes,
            .peak_bytes = figures.peak_bytes,
            .pool_bytes = mover.execution->moves().pool_bytes,
            .replans = mover.replans,
            .drift = drift_of(mover)};
    return {};
}

// ---- steps

/// Returns how long the plan itself makes the rank wait, for moves and for others.
Tick planned_waits(const GC_Mover_s& mover) {
    Tick busy = 0;
    for (const mover::Operator& op : mover.execution->rank().operators) busy += op.duration;
    return mover.planned_step - busy;
}

/// Warns of waits that the plan did not have, once for each plan.
void warn_of_waits(GC_Mover_s& mover) {
    const mover::ExecutionFigures figures = mover.execution->figures();
    const Tick waited = figures.waited_for_tensors + figures.waited_for_memory;
    if (mover.has_warned || waited < mover.planned_step / 20 || waited <= planned_waits(mover))
        return;
    mover.has_warned = true;
    const mover::Operator& worst =
        mover.execution->rank().operators[static_cast<std::size_t>(figures.longest_wait_of)];
    log(LogLevel::warn,
        "the plan of moves was wrong: operators waited {:.3g} ms for them in a step of {:.3g} ms "
        "(planned {:.3g} ms), longest {:.3g} ms before {} of {}, part {}, micro-batch {}; plan "
        "again with measured times of operators",
        microseconds(waited) / 1000, microseconds(figures.step) / 1000,
        microseconds(mover.planned_step) / 1000, microseconds(figures.longest_wait) / 1000,
        name_of(worst.kind), layer_text(mover, worst.layer), worst.part, worst.micro_batch);
}

Status set_drift(GC_Mover_s& mover, double share) {
    if (!(share >= 0))
        return {Code::invalid_argument,
                fmt::format("share is {}; allowed are numbers from 0 on", share)};
    mover.drift_share = share;
    return {};
}

Status begin_step(GC_Mover_s& mover) {
    if (mover.drift_share > 0) GRADCOLL_TRY(plan_again(mover));
    return mover.execution->begin_step();
}

Status end_step(GC_Mover_s& mover) {
    GRADCOLL_TRY(mover.execution->end_step());
    warn_of_waits(mover);
    return {};
}

Status get_data(GC_Mover_s& mover, int tensor, void** data) {
    if (data == nullptr) return {Code::invalid_argument, "data is a null pointer"};
    *data = GRADCOLL_VALUE(mover.execution->tensor(tensor));
    return {};
}

Status take_data(GC_Mover_s& mover, int tensor, void** data) {
    if (data == nullptr) return {Code::invalid_argument, "data is a null pointer"};
    *data = GRADCOLL_VALUE(mover.execution->take_over(tensor));
    return {};
}

MPI_Comm comm_of(GC_Mover mover) {
    return mover != GC_MOVER_NULL ? mover->comm : MPI_COMM_NULL;
}

/// Runs `body` on a mover that is not null.
template <class Body>
int with_mover(GC_Mover mover, const char* call, Body&& body) {
    return at_boundary(comm_of(mover), call, [&]() -> Status {
        if (mover == nullptr) return {Code::invalid_argument, "mover is GC_MOVER_NULL"};
        return body(*mover);
    });
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Mover_create(MPI_Comm comm, const char* path, int pipeline_rank,
                               GC_Mover* mover) {
    return at_boundary(comm, "GC_Mover_create", [&] {
        return create_mover(comm, path, pipeline_rank, mover, plain, nullptr);
    });
}

extern "C" int GC_Mover_create_on_device(MPI_Comm comm, const char* path, int pipeline_rank,
                                         void* stream, GC_Mover* mover) {
    return at_boundary(comm, "GC_Mover_create_on_device", [&] {
        return create_mover(comm, path, pipeline_rank, mover, on_device, stream);
    });
}

extern "C" int GC_Mover_count(GC_Mover mover, int* operators, int* tensors) {
    return with_mover(mover, "GC_Mover_count", [&](const GC_Mover_s& m) {
        if (operators != nullptr)
            *operators = static_cast<int>(m.execution->rank().operators.size());
        if (tensors != nullptr) *tensors = static_cast<int>(m.execution->rank().tensors.size());
        return Status();
    });
}

extern "C" int GC_Mover_get_operator(GC_Mover mover, int op, GC_Mover_operator* out) {
    return with_mover(mover, "GC_Mover_get_operator",
                      [&](const GC_Mover_s& m) { return get_operator(m, op, out); });
}

extern "C" int GC_Mover_get_tensor(GC_Mover mover, int tensor, GC_Mover_tensor* out) {
    return with_mover(mover, "GC_Mover_get_tensor",
                      [&](const GC_Mover_s& m) { return get_tensor(m, tensor, out); });
}

extern "C" int GC_Mover_step_begin(GC_Mover mover) {
    return with_mover(mover, "GC_Mover_step_begin", [&](GC_Mover_s& m) { return begin_step(m); });
}

extern "C" int GC_Mover_set_drift(GC_Mover mover, double share) {
    return with_mover(mover, "GC_Mover_set_drift",
                      [&](GC_Mover_s& m) { return set_drift(m, share); });
}

extern "C" int GC_Mover_op_begin(GC_Mover mover, int op) {
    return with_mover(mover, "GC_Mover_op_begin",
                      [&](GC_Mover_s& m) { return m.execution->begin_operator(op); });
}

extern "C" int GC_Mover_op_end(GC_Mover mover, int op) {
    return with_mover(mover, "GC_Mover_op_end",
                      [&](GC_Mover_s& m) { return m.execution->end_operator(op); });
}

extern "C" int GC_Mover_step_end(GC_Mover mover) {
    return with_mover(mover, "GC_Mover_step_end", [&](GC_Mover_s& m) { return end_step(m); });
}

extern "C" int GC_Mover_get_data(GC_Mover mover, int tensor, void** data) {
    return with_mover(mover, "GC_Mover_get_data",
                      [&](GC_Mover_s& m) { return get_data(m, tensor, data); });
}

extern "C" int GC_Mover_take_data(GC_Mover mover, int tensor, void** data) {
    return with_mover(mover, "GC_Mover_take_data",
                      [&](GC_Mover_s& m) { return take_data(m, tensor, data); });
}

extern "C" int GC_Mover_get_stats(GC_Mover mover, GC_Mover_stats* stats) {
    return with_mover(mover, "GC_Mover_get_stats",
                      [&](const GC_Mover_s& m) { return get_stats(m, stats); });
}

extern "C" int GC_Mover_free(GC_Mover* mover) {
    const MPI_Comm comm = mover != nullptr ? comm_of(*mover) : MPI_COMM_NULL;
    return at_boundary(comm, "GC_Mover_free", [&]() -> Status {
        if (mover == nullptr || *mover == nullptr) return {Code::invalid_argument, "mover is null"};
        delete *mover;
        *mover = GC_MOVER_NULL;
        return {};
    });
}
