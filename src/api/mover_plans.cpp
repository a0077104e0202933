// How plans reach all ranks of a mover, and how they are made again; see mover_handle.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "api/mover_handle.hpp"
#include "base/log.hpp"
#include "base/mpi/exchange.hpp"
#include "mover/check/check.hpp"
#include "mover/files/plan_file.hpp"
#include "mover/plan/planner.hpp"
#include "mpi/boundary.hpp"
#include "topology/bytes.hpp"
#include "topology/sources/cluster/exchange.hpp"

namespace gradcoll {
namespace {

using mover::Execution;
using mover::Tick;

/// Returns the time that an operator took, without its waits.
Tick measured_ticks(const Execution& execution, std::size_t op) {
    const mover::Span span = execution.measured(static_cast<std::int32_t>(op));
    return std::clamp<Tick>(span.end - span.start, 0, mover::longest_ticks - 1);
}

/// Returns the rate of the last step's moves in bytes per second, at most the link's; the plan's if
/// there were none.
std::int64_t measured_rate(const GC_Mover_s& mover) {
    const mover::ExecutionFigures figures = mover.execution->figures();
    const mover::Lane& lane = mover.execution->lane();
    const Tick moving = figures.moving - 2 * figures.moves * lane.latency;
    if (figures.moved_bytes == 0 || moving <= 0) return mover.planned_rate;
    const double rate = static_cast<double>(figures.moved_bytes) / static_cast<double>(moving) *
                        mover::ticks_per_second;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(rate), 1, lane.bytes_per_second);
}

double drift_of_operators(const Execution& execution) {
    const auto& operators = execution.rank().operators;
    double planned = 0, off = 0;
    for (std::size_t n = 0; n < operators.size(); ++n) {
        planned += static_cast<double>(operators[n].duration);
        off += static_cast<double>(std::abs(measured_ticks(execution, n) - operators[n].duration));
    }
    return off / std::max(planned, 1.0);
}

/// Returns the share by which moves were slower than planned, or faster.
double drift_of_moves(const GC_Mover_s& mover) {
    const auto planned = static_cast<double>(mover.planned_rate);
    const auto measured = static_cast<double>(measured_rate(mover));
    return std::max(planned / measured, measured / planned) - 1;
}

/// Returns this rank's figures for rank 0: its pipeline rank, its rate, its operators' times.
std::string figures_for_rank_0(const GC_Mover_s& mover) {
    const Execution& execution = *mover.execution;
    ByteWriter writer;
    writer.number(static_cast<std::int32_t>(mover.pipeline_rank));
    writer.number(measured_rate(mover));
    for (std::size_t n = 0; n < execution.rank().operators.size(); ++n)
        writer.number(static_cast<std::int64_t>(measured_ticks(execution, n)));
    return writer.take();
}

/// Adds what figures_for_rank_0() says to the sums. The slowest link of a rank is the one to plan
/// for.
Status add_figures(std::string_view figures, mover::Measured& sums,
                   std::vector<std::int64_t>& devices) {
    ByteReader reader(figures);
    std::int32_t rank = 0;
    std::int64_t rate = 0;
    if (!reader.number(rank) || !reader.number(rate) || rate < 1 || rank < 0 ||
        std::cmp_greater_equal(rank, devices.size()))
        return {Code::corrupt, "the figures of a rank are not of one that the plan has"};
    const auto r = static_cast<std::size_t>(rank);
    if (reader.size_left() != sums.durations[r].size() * sizeof(std::int64_t))
        return {Code::corrupt,
                fmt::format("the figures of pipeline rank {} are not of its {} operators", rank,
                            sums.durations[r].size())};
    for (Tick& sum : sums.durations[r]) {
        std::int64_t ticks = 0;
        if (!reader.number(ticks) || ticks < 0 || ticks >= mover::longest_ticks)
            return {Code::corrupt,
                    fmt::format("pipeline rank {} tells of {} ticks of an operator", rank, ticks)};
        sum += ticks;
    }
    sums.bytes_per_second[r] = std::min<std::int64_t>(sums.bytes_per_second[r], rate);
    ++devices[r];
    return {};
}

/// Returns means over the devices of each pipeline rank. What no device of this job runs keeps its
/// planned figures.
Result<mover::Measured> means_of(const mover::Scene& scene,
                                 const std::vector<std::string>& figures) {
    mover::Measured out;
    std::vector<std::int64_t> devices(scene.program.ranks.size(), 0);
    for (const mover::RankProgram& rank : scene.program.ranks)
        out.durations.emplace_back(rank.operators.size(), Tick{0});
    for (const mover::Lane& link : scene.links)
        out.bytes_per_second.push_back(link.bytes_per_second);
    for (const std::string& of_rank : figures) GRADCOLL_TRY(add_figures(of_rank, out, devices));
    for (std::size_t r = 0; r < devices.size(); ++r)
        for (std::size_t n = 0; n < out.durations[r].size(); ++n)
            if (devices[r] > 0)
                out.durations[r][n] /= devices[r];
            else
                out.durations[r][n] = scene.program.ranks[r].operators[n].duration;
    return out;
}

/// Makes a plan from the figures of all ranks and returns its text; called on rank 0.
Result<std::string> new_plan(const mover::Inputs& old, const std::vector<std::string>& figures) {
    mover::Inputs inputs = old;
    const mover::Scene planned = GRADCOLL_VALUE(mover::scene_of(old));
    inputs.measured = GRADCOLL_VALUE(means_of(planned, figures));
    const mover::Scene scene = GRADCOLL_VALUE(mover::scene_of(inputs));
    const auto step = GRADCOLL_VALUE(mover::plan_moves(scene.program, scene.rooms, inputs.kinds));
    return mover::json_of(inputs, scene.program, step.plan);
}

Status take_plan(GC_Mover_s& mover, const std::string& text) {
    ReadPlan read = GRADCOLL_VALUE(read_plan(text));
    const auto rank = static_cast<std::size_t>(mover.pipeline_rank);
    GRADCOLL_TRY(mover.execution->follow(std::move(read.scene.program.ranks[rank]),
                                         std::move(read.plan.ranks[rank]), read.plan.step_ticks,
                                         room_of(read.scene, rank)));
    mover.planned_rate = read.scene.rooms.ranks[rank].lane.bytes_per_second;
    mover.inputs = std::move(read.inputs);
    mover.planned_step = read.plan.step_ticks;
    mover.has_warned = false;  // the warning was about the old plan
    ++mover.replans;
    return {};
}

}  // namespace

Result<ReadPlan> read_plan(const std::string& text) {
    const auto document = GRADCOLL_VALUE(mover::document_of_text("plan", text));
    ReadPlan read;
    read.inputs = GRADCOLL_VALUE(mover::inputs_of_plan(document));
    read.scene = GRADCOLL_VALUE(mover::scene_of(read.inputs));
    read.plan = GRADCOLL_VALUE(mover::plan_of(document));
    GRADCOLL_TRY(mover::check_plan(read.scene.program, read.scene.rooms, read.plan));
    return read;
}

mover::RankRoom room_of(const mover::Scene& scene, std::size_t rank) {
    mover::RankRoom room = scene.rooms.ranks[rank];
    room.lane = scene.links[rank];
    return room;
}

double drift_of(const GC_Mover_s& mover) {
    const Execution& execution = *mover.execution;
    if (!execution.has_measured()) return 0;
    return std::max(drift_of_operators(execution), drift_of_moves(mover));
}

Status plan_again(GC_Mover_s& mover) {
    const double drift = GRADCOLL_VALUE(combined(mover.comm, MPI_MAX, drift_of(mover)));
    if (drift <= mover.drift_share) return {};
    std::vector<std::string> figures;
    GRADCOLL_TRY(gather_bytes(mover.comm, figures_for_rank_0(mover), figures));
    int rank = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(mover.comm, &rank), "MPI_Comm_rank"));
    const auto text = share_result(mover.comm, rank == 0 ? new_plan(mover.inputs, figures)
                                                         : Result<std::string>(std::string()));
    const double before = static_cast<double>(mover.planned_step) / 1e6;
    if (!text.ok()) {
        if (rank == 0)
            log(LogLevel::warn,
                "times are {:.0f} % off the plan of moves, and there is no other: {}", 100 * drift,
                text.status().message());
        return {};
    }
    GRADCOLL_TRY(take_plan(mover, *text));
    if (rank == 0)
        log(LogLevel::info,
            "times were {:.0f} % off the plan of moves: planned again, a step of {:.3g} ms instead "
            "of {:.3g} ms",
            100 * drift, static_cast<double>(mover.planned_step) / 1e6, before);
    return {};
}

}  // namespace gradcoll
