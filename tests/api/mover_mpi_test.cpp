// gradcoll/mover.h: rank 0's plan reaches all ranks, its bytes are moved, and bad use is refused.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "api/api_support.hpp"
#include "base/files.hpp"
#include "mover/files/plan_file.hpp"
#include "mover/plan/planner.hpp"

namespace gradcoll::test {
namespace {

constexpr int layers = 8;
constexpr long layer_bytes = 300'000;

/// Figures describe two pipeline ranks of layers that keep one tensor each, in devices that hold
/// half of them; operators take `forward_us` and twice that.
struct Figures {
    double link_gbytes_per_s = 1;
    long device_bytes = 1'400'000;
    int pipeline = 2, micro_batches = 2;
};

mover::Inputs inputs_of(int forward_us, const Figures& figures) {
    mover::Inputs inputs;
    inputs.model.json = {{"layers",
                          {{{"name", "l"},
                            {"repeat", layers},
                            {"parameters", 1000},
                            {"kept", {{{"name", "out"}, {"bytes", layer_bytes}}}},
                            {"forward_us", forward_us},
                            {"backward_us", 2 * forward_us}}}}};
    inputs.parallel.json = {{"pipeline", figures.pipeline},
                            {"micro_batches", figures.micro_batches}};
    inputs.cluster.json = {{"devices_per_host", 2},
                           {"device_memory", figures.device_bytes},
                           {"host_memory", "1GiB"},
                           {"device_tflops", 1},
                           {"device_memory_gbytes_per_s", 10},
                           {"network_gbytes_per_s", 10},
                           {"link_gbytes_per_s", figures.link_gbytes_per_s}};
    inputs.kinds.least_bytes = 100'000;
    return inputs;
}

std::string plan_text(const mover::Inputs& inputs) {
    const auto scene = mover::scene_of(inputs);
    EXPECT_TRUE(scene.ok()) << scene.status().message();
    const auto step = mover::plan_moves(scene->program, scene->rooms, inputs.kinds);
    EXPECT_TRUE(step.ok()) << step.status().message();
    return mover::json_of(inputs, scene->program, step->plan);
}

std::string plan_text(int forward_us, const Figures& figures = {}) {
    return plan_text(inputs_of(forward_us, figures));
}

class Movers : public testing::Test {
  protected:
    void SetUp() override {
        MPI_Comm_rank(comm, &rank);
        pipeline_rank = rank % 2;
    }
    void TearDown() override {
        if (mover != GC_MOVER_NULL) {
            EXPECT_EQ(MPI_SUCCESS, GC_Mover_free(&mover));
        }
        EXPECT_EQ(GC_MOVER_NULL, mover);
        if (!path.empty()) std::remove(path.c_str());
        MPI_Barrier(comm);
    }

    /// Writes a file for rank 0; the other ranks name one that does not exist.
    const char* file_of(const std::string& text) {
        if (rank != 0) return "/no/such/plan.json";
        path = (std::filesystem::temp_directory_path() /
                ("gc_mover_test." + std::to_string(getpid()) + ".json"))
                   .string();
        EXPECT_TRUE(write_file(path, text).ok());
        return path.c_str();
    }

    void make(int forward_us) {
        ASSERT_EQ(MPI_SUCCESS,
                  GC_Mover_create(comm, file_of(plan_text(forward_us)), pipeline_rank, &mover));
        ASSERT_EQ(MPI_SUCCESS, GC_Mover_count(mover, &operators, &tensors));
    }

    /// Runs one step. What the first operator that uses a tensor writes is there for the last one.
    void run_step(int step, int operator_us = 0) {
        ASSERT_EQ(MPI_SUCCESS, GC_Mover_step_begin(mover));
        for (int op = 0; op < operators; ++op) {
            ASSERT_EQ(MPI_SUCCESS, GC_Mover_op_begin(mover, op));
            for (int t = 0; t < tensors; ++t) touch(t, op, step);
            std::this_thread::sleep_for(std::chrono::microseconds(operator_us));
            ASSERT_EQ(MPI_SUCCESS, GC_Mover_op_end(mover, op));
        }
        ASSERT_EQ(MPI_SUCCESS, GC_Mover_step_end(mover));
    }

    /// Runs more steps until one is, on all ranks, as is looked for: a busy machine delays some.
    /// Returns whether that came.
    template <class IsFound>
    int run_until(int operator_us, IsFound&& is_found, GC_Mover_stats& stats) {
        int steps = 1, found = 0;
        while (found == 0 && steps < 60) {
            run_step(++steps, operator_us);
            EXPECT_EQ(MPI_SUCCESS, GC_Mover_get_stats(mover, &stats));
            found = is_found(stats);
            MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MIN, comm);
        }
        EXPECT_EQ(steps, stats.steps);
        return found;
    }

    void touch(int t, int op, int step) const {
        GC_Mover_tensor tensor;
        ASSERT_EQ(MPI_SUCCESS, GC_Mover_get_tensor(mover, t, &tensor));
        if (tensor.stays != 0 || (tensor.first_use != op && tensor.last_use != op)) return;
        // Every other tensor's memory is taken over at its end.
        const bool takes = t % 2 == 0 && tensor.last_use == op;
        void* data = nullptr;
        ASSERT_EQ(MPI_SUCCESS,
                  takes ? GC_Mover_take_data(mover, t, &data) : GC_Mover_get_data(mover, t, &data));
        std::vector<unsigned> expected(static_cast<std::size_t>(tensor.bytes) / 4);
        for (std::size_t n = 0; n < expected.size(); ++n)
            expected[n] =
                static_cast<unsigned>(n * 2654435761U + static_cast<unsigned>(t * 977 + step));
        if (tensor.first_use == op)
            std::memcpy(data, expected.data(), expected.size() * 4);
        else
            EXPECT_EQ(0, std::memcmp(data, expected.data(), expected.size() * 4)) << "tensor " << t;
        if (takes) std::free(data);
    }

    void expect_error(int code, int expected_class, std::initializer_list<const char*> words) {
        EXPECT_EQ(expected_class, class_of(code)) << error_text(code);
        const std::string text = error_text(code);
        for (const char* word : words)
            EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in: " << text;
    }

    const OwnComm comm{"flat"};  // its errors are returned; those of MPI_COMM_WORLD are fatal
    int rank = 0, pipeline_rank = 0, operators = 0, tensors = 0;
    GC_Mover mover = GC_MOVER_NULL;
    std::string path;
};

TEST_F(Movers, RanksGetThePlanFromRank0AndBytesComeBackAsTheyWere) {
    make(2000);
    for (int step = 1; step <= 3; ++step) run_step(step);
    GC_Mover_stats stats;
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_get_stats(mover, &stats));
    EXPECT_EQ(3, stats.steps);
    // Rank 0 of the pipeline holds two micro-batches, which do not fit.
    if (pipeline_rank == 0) {
        EXPECT_GT(stats.moves, 0);
    }
    EXPECT_EQ(2 * layer_bytes * stats.moves, stats.moved_bytes);
    EXPECT_LE(stats.peak_bytes, stats.device_bytes);
    EXPECT_EQ(1'400'000, stats.device_bytes);
    EXPECT_GE(stats.overlap, 0);
    EXPECT_LE(stats.overlap, 1);
}

TEST_F(Movers, OperatorsAndTensorsAreTold) {
    make(10);
    run_step(1);
    int forwards = 0;
    double last = 0;
    for (int op = 0; op < operators; ++op) {
        GC_Mover_operator described;
        ASSERT_EQ(MPI_SUCCESS, GC_Mover_get_operator(mover, op, &described));
        forwards += std::string(described.kind) == "forward" ? 1 : 0;
        EXPECT_LT(described.planned_begin_us, described.planned_end_us);
        EXPECT_LE(last, described.measured_begin_us);
        EXPECT_LE(described.measured_begin_us, described.measured_end_us);
        last = described.measured_end_us;
    }
    EXPECT_EQ(layers / 2 * 2, forwards);
    int activations = 0;
    for (int t = 0; t < tensors; ++t) {
        GC_Mover_tensor tensor;
        ASSERT_EQ(MPI_SUCCESS, GC_Mover_get_tensor(mover, t, &tensor));
        if (tensor.stays != 0) continue;
        ++activations;
        EXPECT_STREQ("activations", tensor.kind);
        EXPECT_STREQ("all.out", tensor.name);
        EXPECT_EQ(layer_bytes, tensor.bytes);
        EXPECT_LT(tensor.first_use, tensor.last_use);
        EXPECT_EQ("l " + std::to_string(pipeline_rank * layers / 2), std::string(tensor.layer))
            << "the first one";
        break;
    }
    EXPECT_EQ(1, activations);
}

/// On a busy machine a program may be as slow as the plan in one step, but not in all of them.
TEST_F(Movers, AProgramFasterThanThePlanWaitsAndIsTold) {
    make(20'000);
    GC_Mover_stats stats{};
    const auto is_told = [&] {
        const bool waited = stats.waits_for_memory + stats.waits_for_tensors > 0;
        return stats.measured_step_us < stats.planned_step_us && (waited || pipeline_rank != 0);
    };
    for (int step = 1; step <= 50 && !is_told(); ++step) {
        run_step(step);
        ASSERT_EQ(MPI_SUCCESS, GC_Mover_get_stats(mover, &stats));
    }
    EXPECT_LT(stats.measured_step_us, stats.planned_step_us);
    if (pipeline_rank != 0) return;
    EXPECT_GT(stats.waits_for_memory + stats.waits_for_tensors, 0);
    EXPECT_GT(stats.waited_for_memory_us + stats.waited_for_tensors_us, 0);
    EXPECT_GT(stats.longest_wait_us, 0);
    EXPECT_GE(stats.longest_wait_of, 0);
    EXPECT_LT(stats.overlap, 1);
}

/// Returns a plan for a link of 20 MB/s, on which a move takes 15 ms, and for operators that take
/// ten times as long as they really do. Two of eight tensors have to move.
std::string plan_of_slow_operators() {
    return plan_text(60'000, {0.02, 2'100'000, 1, 1});
}

TEST_F(Movers, WrongTimesAreMeasuredAndPlannedAgain) {
    const char* file = file_of(plan_of_slow_operators());
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_create(comm, file, 0, &mover));
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_count(mover, &operators, &tensors));
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_set_drift(mover, 0.5));
    GC_Mover_stats first, later;
    run_step(1, 6'000);
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_get_stats(mover, &first));
    EXPECT_EQ(0, first.replans);
    EXPECT_GT(first.drift, 0.5);
    const auto is_near_its_plan = [&](const GC_Mover_stats& stats) {
        return stats.replans >= 1 && stats.drift < 0.5 &&
               stats.planned_step_us < first.planned_step_us / 2;
    };
    const int is_near = run_until(6'000, is_near_its_plan, later);
    EXPECT_EQ(1, is_near) << later.replans << " plans, the last of " << later.planned_step_us
                          << " us, the first of " << first.planned_step_us << "; still "
                          << later.drift << " off";
}

/// Returns a plan that was made while the link was disturbed: it counts with a tenth of its rate.
std::string plan_of_a_disturbed_link() {
    mover::Inputs inputs = inputs_of(3'000, {0.1, 1'400'000, 1, 2});
    const auto scene = mover::scene_of(inputs);
    EXPECT_TRUE(scene.ok()) << scene.status().message();
    inputs.measured.bytes_per_second = {scene->links[0].bytes_per_second / 10};
    auto& durations = inputs.measured.durations.emplace_back();
    for (const mover::Operator& op : scene->program.ranks[0].operators)
        durations.push_back(op.duration);
    return plan_text(inputs);
}

TEST_F(Movers, ALinkThatWasDisturbedOnceIsPlannedForAtItsOwnRateAgain) {
    const char* file = file_of(plan_of_a_disturbed_link());
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_create(comm, file, 0, &mover));
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_count(mover, &operators, &tensors));
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_set_drift(mover, 0.5));
    GC_Mover_stats first, later;
    run_step(1, 3'000);
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_get_stats(mover, &first));
    EXPECT_GT(first.moves, 0);
    // Moves are as fast as the link now, so the next plans count with more than half of its rate.
    const auto is_shorter_now = [&](const GC_Mover_stats& stats) {
        return stats.replans >= 1 && stats.planned_step_us < first.planned_step_us / 2;
    };
    const int is_shorter = run_until(3'000, is_shorter_now, later);
    EXPECT_EQ(1, is_shorter) << later.replans << " plans, the last of " << later.planned_step_us
                             << " us, the first of " << first.planned_step_us;
}

TEST_F(Movers, TimesThatAreAsPlannedChangeNothing) {
    make(3'000);
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_set_drift(mover, 1000));
    for (int step = 1; step <= 2; ++step) run_step(step);
    GC_Mover_stats stats;
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_get_stats(mover, &stats));
    EXPECT_EQ(0, stats.replans);
    expect_error(GC_Mover_set_drift(mover, -0.1), MPI_ERR_ARG, {"share is -0.1"});
}

TEST_F(Movers, WhatRank0CannotReadOrIsNoPlanFailsOnAllRanks) {
    const int no_file = GC_Mover_create(comm, "/no/such/plan.json", pipeline_rank, &mover);
    expect_error(no_file, MPI_ERR_IO, {"GC_Mover_create", "/no/such/plan.json"});
    expect_error(GC_Mover_create(comm, nullptr, 0, &mover), MPI_ERR_ARG, {"path"});
    expect_error(GC_Mover_create(comm, file_of("[]"), 0, &mover), MPI_ERR_ARG, {"plan"});
    std::string late = plan_text(2000);
    const std::string key = "\"prefetch\": [";
    const std::size_t at = late.find(key);
    ASSERT_NE(std::string::npos, at);
    late.insert(late.find_first_of("0123456789", at + key.size()), "9");
    expect_error(GC_Mover_create(comm, file_of(late), 0, &mover), MPI_ERR_ARG, {"rank 0", "move"});
    EXPECT_EQ(GC_MOVER_NULL, mover);
}

TEST_F(Movers, AMoverOnADeviceRunsWhereThereIsOne) {
    const char* file = file_of(plan_text(10));
    if (std::getenv("GC_DEVICE") == nullptr) {
        expect_error(GC_Mover_create_on_device(comm, file, 0, nullptr, &mover),
                     MPI_ERR_UNSUPPORTED_OPERATION, {"GC_Mover_create_on_device"});
        return;
    }
    // The emulated device has bytes that the CPU cannot read: steps run, and nothing is looked at.
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_create_on_device(comm, file, pipeline_rank, nullptr, &mover));
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_count(mover, &operators, &tensors));
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_step_begin(mover));
    for (int op = 0; op < operators; ++op) {
        ASSERT_EQ(MPI_SUCCESS, GC_Mover_op_begin(mover, op));
        ASSERT_EQ(MPI_SUCCESS, GC_Mover_op_end(mover, op));
    }
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_step_end(mover));
    GC_Mover_stats stats;
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_get_stats(mover, &stats));
    EXPECT_EQ(2 * layer_bytes * stats.moves, stats.moved_bytes);
    if (pipeline_rank == 0) {
        EXPECT_GT(stats.moves, 0);
    }
}

TEST_F(Movers, ArgumentsOfOneRankFailThere) {
    const char* file = file_of(plan_text(10));
    expect_error(GC_Mover_create(comm, file, 2, &mover), MPI_ERR_ARG,
                 {"pipeline_rank is 2", "0 to 1"});
    expect_error(GC_Mover_create(comm, file, 0, nullptr), MPI_ERR_ARG, {"mover"});
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_create(comm, file, 0, &mover));
    void* data = nullptr;
    GC_Mover_operator op;
    GC_Mover_tensor tensor;
    expect_error(GC_Mover_op_begin(mover, 0), MPI_ERR_ARG, {"GC_Mover_op_begin", "no step"});
    expect_error(GC_Mover_step_end(mover), MPI_ERR_ARG, {"has not come to its end"});
    expect_error(GC_Mover_get_data(mover, -1, &data), MPI_ERR_ARG, {"tensor is -1"});
    expect_error(GC_Mover_get_data(mover, 0, nullptr), MPI_ERR_ARG, {"data"});
    expect_error(GC_Mover_take_data(mover, 0, nullptr), MPI_ERR_ARG, {"data"});
    expect_error(GC_Mover_get_operator(mover, 100'000, &op), MPI_ERR_ARG, {"op is 100000"});
    expect_error(GC_Mover_get_tensor(mover, -5, &tensor), MPI_ERR_ARG, {"tensor is -5"});
    expect_error(GC_Mover_get_stats(mover, nullptr), MPI_ERR_ARG, {"stats"});
    // Without a mover there is no communicator but this one.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect_error(GC_Mover_step_begin(GC_MOVER_NULL), MPI_ERR_ARG, {"GC_MOVER_NULL"});
    GC_Mover none = GC_MOVER_NULL;
    expect_error(GC_Mover_free(&none), MPI_ERR_ARG, {"mover"});
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    // A step that is not ended goes away with its mover.
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_step_begin(mover));
    ASSERT_EQ(MPI_SUCCESS, GC_Mover_op_begin(mover, 0));
    expect_error(GC_Mover_op_begin(mover, 1), MPI_ERR_ARG, {"while operator 0 runs"});
}

}  // namespace
}  // namespace gradcoll::test
