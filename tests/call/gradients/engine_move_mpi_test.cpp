// An engine goes on with the ranks of another communicator: with fewer, with more, with what its
// encoders have dropped, and its counters. tests/faults/survive does so after deaths.
#include "engine_support.hpp"

namespace gradcoll {
namespace {

using namespace test;

/// Rest has all ranks of a communicator but the last; on that it is MPI_COMM_NULL.
class Rest {
  public:
    explicit Rest(const PlainComm& comm) {
        const bool is_last = comm.rank() == comm.size() - 1;
        MPI_Comm_split(comm, is_last ? MPI_UNDEFINED : 0, 0, &comm_);
        if (comm_ != MPI_COMM_NULL) MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
    ~Rest() {
        if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    }
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;
    operator MPI_Comm() const { return comm_; }  // NOLINT: stands for the communicator

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

void expect_moved(GC_Engine engine, MPI_Comm comm) {
    EXPECT_EQ(GC_Engine_reconfigure(engine, comm), MPI_SUCCESS);
}

GC_Stats stats_of(GC_Engine engine) {
    GC_Stats stats{};
    EXPECT_EQ(GC_Engine_get_stats(engine, &stats), MPI_SUCCESS);
    return stats;
}

TEST(EngineMoves, ARankLeavesAndAnotherOneComes) {
    const OwnComm all;
    if (all.size() == 1) GTEST_SKIP() << "one rank can leave nobody";
    for (const char* strategy : {"tree", "ring", "ps"}) {
        const Rest rest(all);
        const bool leaves = rest == MPI_COMM_NULL;
        GC_Engine engine = GC_ENGINE_NULL;
        const Info settings{{"gc_engine", strategy}};
        ASSERT_EQ(GC_Engine_create(all, settings, &engine), MPI_SUCCESS);
        expect_right_sums(engine, all, 1, false);
        const GC_Stats before = stats_of(engine);
        if (!leaves) {
            expect_moved(engine, rest);
            expect_right_sums(engine, rest, 2, true);
            // How much packs are rounded up depends on time.
            EXPECT_GT(stats_of(engine).bytes_reduced, before.bytes_reduced * 3 / 2);
            expect_moved(engine, all);
        } else {  // as a new rank would come, that has no engine yet
            expect_moved(engine, MPI_COMM_SELF);
            ASSERT_EQ(GC_Engine_free(&engine), MPI_SUCCESS);
            ASSERT_EQ(GC_Engine_create(all, settings, &engine), MPI_SUCCESS);
        }
        expect_right_sums(engine, all, 3, false);
        ASSERT_EQ(GC_Engine_free(&engine), MPI_SUCCESS);
    }
}

/// Returns how far what came of one vector's sums is off: once it was handed in, then zeros were,
/// on other communicators.
double what_is_lost(const LossyEngine& engine, const OwnComm& comm, int moves, std::size_t count) {
    std::vector<double> expected(count, 0.0), total(count, 0.0);
    for (int rank = 0; rank < comm.size(); ++rank) {
        const std::vector<float> one = noise_of(rank, 1, count);
        for (std::size_t i = 0; i < count; ++i) expected[i] += static_cast<double>(one[i]);
    }
    const auto add = [&](const std::vector<float>& out) {
        for (std::size_t i = 0; i < count; ++i) total[i] += static_cast<double>(out[i]);
    };
    add(summed(engine, "w", noise_of(comm.rank(), 1, count)));
    std::vector<OwnComm> places(static_cast<std::size_t>(moves));
    for (const OwnComm& place : places) {
        expect_moved(engine, place);
        add(summed(engine, "w", std::vector<float>(count, 0.0F)));
    }
    expect_moved(engine, comm);
    return distance(total, expected);
}

TEST(EngineMoves, WhatWasDroppedComesInTheNextSumWhereverThatIs) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "one rank sends nothing";
    for (const char* codec : {"2:4", "int8"})
        for (const char* strategy : {"tree", "ring", "ps"})
            for (const std::size_t count : {dropped_count, std::size_t{500}}) {
                const LossyEngine stays(comm, codec, "on", strategy);
                const LossyEngine moves(comm, codec, "on", strategy);
                const LossyEngine forgets(comm, codec, "off", strategy);
                const double at_first = what_is_lost(stays, comm, 0, count);
                ASSERT_GT(at_first, 0) << codec << ' ' << strategy << ' ' << count;
                EXPECT_LT(what_is_lost(moves, comm, 2, count), at_first / 3)
                    << codec << ' ' << strategy << ' ' << count;
                EXPECT_GT(what_is_lost(forgets, comm, 2, count), at_first / 3)
                    << codec << ' ' << strategy << ' ' << count;
            }
}

TEST(EngineMoves, ResidualsOfTheProgramStay) {
    const OwnComm comm, other;
    if (comm.size() == 1) GTEST_SKIP() << "one rank sends nothing";
    const LossyEngine engine(comm);
    GC_Residual residual = GC_RESIDUAL_NULL, again = GC_RESIDUAL_NULL;
    summed(engine, "w", noise_of(comm.rank(), 1));
    const auto get = [&](GC_Residual* out) {
        return GC_Engine_get_residual(engine, "w", dropped_count, MPI_FLOAT, out);
    };
    ASSERT_EQ(get(&residual), MPI_SUCCESS);
    expect_moved(engine, other);
    ASSERT_EQ(get(&again), MPI_SUCCESS);
    EXPECT_EQ(again, residual);
    ASSERT_EQ(GC_Residual_reset(residual), MPI_SUCCESS);
    const std::vector<float> zeros(dropped_count, 0.0F);
    EXPECT_EQ(summed(engine, "w", zeros), zeros) << "nothing is left of it";
    expect_moved(engine, comm);
}

TEST(EngineMoves, AHandleThatIsNotCompleteIsAnErrorOfAllAndTheEngineStays) {
    const OwnComm comm, other;
    const OwnEngine engine(comm);
    std::vector<float> values(1000, 1.0F);
    GC_Handle handle = GC_HANDLE_NULL;
    ASSERT_EQ(
        GC_Submit(engine, "w", MPI_IN_PLACE, values.data(), 1000, MPI_FLOAT, MPI_SUM, 0, &handle),
        MPI_SUCCESS);
    if (comm.rank() != 0)
        ASSERT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);
    else
        ASSERT_EQ(GC_Engine_flush(engine), MPI_SUCCESS);
    const int code = GC_Engine_reconfigure(engine, other);
    EXPECT_EQ(class_of(code), MPI_ERR_ARG);
    EXPECT_NE(error_text(code).find("engine has 1 gradients whose handles are not complete"),
              std::string::npos)
        << error_text(code);
    ASSERT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);
    EXPECT_EQ(values[0], static_cast<float>(comm.size()));
    expect_right_sums(engine, comm, 1, false);
    expect_moved(engine, other);
    expect_right_sums(engine, other, 2, false);
    EXPECT_EQ(class_of(GC_Engine_reconfigure(GC_ENGINE_NULL, comm)), MPI_ERR_ARG);
    expect_moved(engine, comm);
}

/// The tree that names ranks is of the communicator before.
TEST(EngineMoves, SettingsStay) {
    const OwnComm all;
    if (all.size() != 3) GTEST_SKIP() << "the tree is of three ranks";
    const Rest rest(all);
    GC_Engine engine = GC_ENGINE_NULL;
    ASSERT_EQ(GC_Engine_create(all,
                               Info({{"gc_topology", "((0 1) 2)"},
                                     {"gc_codec", "2:4"},
                                     {"gc_compress_bytes", "0"},
                                     {"gc_compress_if", "always"}}),
                               &engine),
              MPI_SUCCESS);
    summed(engine, "w", noise_of(all.rank(), 1));
    const bool stays = rest != MPI_COMM_NULL;
    expect_moved(engine, stays ? MPI_Comm(rest) : MPI_COMM_SELF);
    summed(engine, "w", noise_of(all.rank(), 2));
    EXPECT_EQ(stats_of(engine).calls_compressed, stays ? 2U : 1U);
    ASSERT_EQ(GC_Engine_free(&engine), MPI_SUCCESS);
}

}  // namespace
}  // namespace gradcoll
