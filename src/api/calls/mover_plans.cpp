// How plans reach all ranks of a mover, and how they are made again; see mover_handle.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "api/calls/mover_handle.hpp"
#include "api/edge/boundary.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "mover/check/check.hpp"
#include "mover/files/plan_file.hpp"
#include "mover/plan/planner.hpp"

namespace gradcoll {
namespace {

using mover::Execution;
using mover::Tick;

/// What an operator took, without what it waited.
Tick measured_ticks(const Execution& execution, std::size_t op) {
    const mover::Span span = execution.measured(static_cast<std::int32_t>(op));
    return std::clamp<Tick>(span.end - span.start, 0, mover::longest_ticks - 1);
}

/// Of the last step's moves; the plan's if there were none.
std::int64_t measured_rate(const Execution& execution) {
    const mover::ExecutionFigures& figures = execution.figures();
    const mover::Lane& lane = execution.lane();
    const Tick moving = figures.moving - 2 * figures.moves * lane.latency;
    if (figures.moved_bytes == 0 || moving <= 0) return lane.bytes_per_second;
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

/// Faster than its lane nothing goes.
double drift_of_moves(const Execution& execution) {
    return static_cast<double>(execution.lane().bytes_per_second) /
               static_cast<double>(measured_rate(execution)) -
           1;
}

/// A row of a rank's figures for rank 0: its pipeline rank, its rate, its operators' times.
std::vector<long long> figures_for_rank_0(const GC_Mover_s& mover) {
    const Execution& execution = *mover.execution;
    std::vector<long long> row = {mover.pipeline_rank, measured_rate(execution)};
    for (std::size_t n = 0; n < execution.rank().operators.size(); ++n)
        row.push_back(measured_ticks(execution, n));
    return row;
}

/// On rank 0 the rows of all ranks, one after the other.
Result<std::vector<long long>> gathered(MPI_Comm comm, const std::vector<long long>& row) {
    int rank = 0, size = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_size(comm, &size), "MPI_Comm_size"));
    const int count = static_cast<int>(row.size());
    std::vector<int> counts(static_cast<std::size_t>(size)), offsets(counts.size());
    GRADCOLL_TRY(from_mpi(PMPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm),
                          "MPI_Gather"));
    std::int64_t total = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
        offsets[r] = static_cast<int>(total);
        total += counts[r];
    }
    std::vector<long long> rows(static_cast<std::size_t>(rank == 0 ? total : 0));
    GRADCOLL_TRY(from_mpi(PMPI_Gatherv(row.data(), count, MPI_LONG_LONG, rows.data(), counts.data(),
                                       offsets.data(), MPI_LONG_LONG, 0, comm),
                          "MPI_Gatherv"));
    return rows;
}

/// Means over the devices of each pipeline rank; what no device of this job runs is as planned.
mover::Measured means_of(const mover::Scene& scene, const std::vector<long long>& rows) {
    mover::Measured out;
    std::vector<std::int64_t> devices(scene.program.ranks.size(), 0);
    for (const mover::RankProgram& rank : scene.program.ranks)
        out.durations.emplace_back(rank.operators.size(), Tick{0});
    for (const mover::RankRoom& room : scene.rooms.ranks)
        out.bytes_per_second.push_back(room.lane.bytes_per_second);
    for (std::size_t at = 0; at < rows.size();) {
        const auto r = static_cast<std::size_t>(rows[at]);
        // The slowest link of a rank is the one to plan for.
        out.bytes_per_second[r] = std::min<std::int64_t>(out.bytes_per_second[r], rows[at + 1]);
        for (std::size_t n = 0; n < out.durations[r].size(); ++n)
            out.durations[r][n] += rows[at + 2 + n];
        at += 2 + out.durations[r].size();
        ++devices[r];
    }
    for (std::size_t r = 0; r < devices.size(); ++r)
        for (std::size_t n = 0; n < out.durations[r].size(); ++n)
            if (devices[r] > 0)
                out.durations[r][n] /= devices[r];
            else
                out.durations[r][n] = scene.program.ranks[r].operators[n].duration;
    return out;
}

/// On rank 0: a plan's text, for what `rows` say.
Result<std::string> new_plan(const mover::Inputs& old, const std::vector<long long>& rows) {
    mover::Inputs inputs = old;
    inputs.measured = means_of(GRADCOLL_VALUE(mover::scene_of(old)), rows);
    const mover::Scene scene = GRADCOLL_VALUE(mover::scene_of(inputs));
    const auto step = GRADCOLL_VALUE(mover::plan_moves(scene.program, scene.rooms, inputs.kinds));
    return mover::json_of(inputs, scene.program, step.plan);
}

Status take_plan(GC_Mover_s& mover, const std::string& text) {
    ReadPlan read = GRADCOLL_VALUE(read_plan(text));
    const auto rank = static_cast<std::size_t>(mover.pipeline_rank);
    GRADCOLL_TRY(mover.execution->follow(std::move(read.scene.program.ranks[rank]),
                                         std::move(read.plan.ranks[rank]),
                                         read.scene.rooms.ranks[rank]));
    mover.inputs = std::move(read.inputs);
    mover.planned_step = read.plan.step_ticks;
    mover.has_warned = false;  // of the old plan
    ++mover.replans;
    return {};
}

}  // namespace

Result<std::string> from_rank_0(MPI_Comm comm, Result<std::string> of_rank_0) {
    std::string text = of_rank_0.ok() ? *of_rank_0 : of_rank_0.status().message();
    long long head[2] = {
        static_cast<long long>(of_rank_0.ok() ? Code::ok : of_rank_0.status().code()),
        static_cast<long long>(text.size())};
    GRADCOLL_TRY(from_mpi(PMPI_Bcast(head, 2, MPI_LONG_LONG, 0, comm), "MPI_Bcast"));
    if (head[1] < 0 || std::cmp_greater(head[1], largest_file_bytes))
        return Status(Code::corrupt, fmt::format("rank 0 sends a plan of {} bytes", head[1]));
    text.resize(static_cast<std::size_t>(head[1]));
    constexpr std::size_t most_at_once = std::size_t{1} << 30U;
    for (std::size_t done = 0; done < text.size(); done += most_at_once) {
        const std::size_t now = std::min(most_at_once, text.size() - done);
        GRADCOLL_TRY(from_mpi(
            PMPI_Bcast(text.data() + done, static_cast<int>(now), MPI_CHAR, 0, comm), "MPI_Bcast"));
    }
    const auto code = static_cast<Code>(head[0]);
    return code == Code::ok ? Result<std::string>(std::move(text)) : Status(code, std::move(text));
}

Result<ReadPlan> read_plan(const std::string& text) {
    const auto document = GRADCOLL_VALUE(mover::document_of_text("plan", text));
    ReadPlan read;
    read.inputs = GRADCOLL_VALUE(mover::inputs_of_plan(document));
    read.scene = GRADCOLL_VALUE(mover::scene_of(read.inputs));
    read.plan = GRADCOLL_VALUE(mover::plan_of(document));
    GRADCOLL_TRY(mover::check_plan(read.scene.program, read.scene.rooms, read.plan));
    return read;
}

double drift_of(const GC_Mover_s& mover) {
    const Execution& execution = *mover.execution;
    if (!execution.has_measured()) return 0;
    return std::max(drift_of_operators(execution), drift_of_moves(execution));
}

Status plan_again(GC_Mover_s& mover) {
    double drift = drift_of(mover);
    GRADCOLL_TRY(from_mpi(PMPI_Allreduce(MPI_IN_PLACE, &drift, 1, MPI_DOUBLE, MPI_MAX, mover.comm),
                          "MPI_Allreduce"));
    if (drift <= mover.drift_share) return {};
    const auto rows = GRADCOLL_VALUE(gathered(mover.comm, figures_for_rank_0(mover)));
    int rank = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(mover.comm, &rank), "MPI_Comm_rank"));
    const auto text = from_rank_0(
        mover.comm, rank == 0 ? new_plan(mover.inputs, rows) : Result<std::string>(std::string()));
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
