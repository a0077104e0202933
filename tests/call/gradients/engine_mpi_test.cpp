// Engines: gradients in orders of each rank's own, every strategy, exact and compressed, beside
// what MPI_Allreduce gives; error feedback by name; and what is wrong with a call.
#include <chrono>
#include <cmath>
#include <string>
#include <thread>

#include "call/gradients/engine_support.hpp"

namespace gradcoll::test {
namespace {

TEST(EngineCalls, SumsAreMPIsWithEveryStrategyAndAnyNumberOfThreads) {
    const OwnComm comm;
    for (const std::string strategy : {"tree", "ring", "ps"})
        for (const char* threads : {",threads=0", ",threads=2"}) {
            const OwnEngine engine(comm, {{"gc_engine", (strategy + threads).c_str()}});
            for (unsigned step = 0; step < 3; ++step)
                expect_right_sums(engine, comm, step, step % 2 == 1);
        }
}

TEST(EngineCalls, TwoEnginesOfOneCommunicatorDoNotMeet) {
    const OwnComm comm;
    const OwnEngine first(comm);
    const OwnEngine second(comm);
    expect_right_sums(first, comm, 1, false);
    expect_right_sums(second, comm, 2, false);
}

/// The test tries types and ops of every kind; those without kernels go through the MPI library.
TEST(EngineCalls, OtherTypesAndOps) {
    const OwnComm comm;
    const OwnEngine engine(comm);
    const int ranks = comm.size();
    std::vector<int> ints(1000, comm.rank() + 1);
    std::vector<double> doubles(1000, 0.5 * (comm.rank() + 1));
    struct Pair {
        double value;
        int index;
    };
    std::vector<Pair> pairs(10, {static_cast<double>(comm.rank()), comm.rank()});
    std::vector<int> most(1000);
    std::vector<double> product(1000);
    std::vector<Pair> best(10);
    GC_Handle handles[3];
    ASSERT_EQ(
        GC_Submit(engine, "most", ints.data(), most.data(), 1000, MPI_INT, MPI_MAX, 0, &handles[0]),
        MPI_SUCCESS);
    ASSERT_EQ(GC_Submit(engine, "product", doubles.data(), product.data(), 1000, MPI_DOUBLE,
                        MPI_PROD, 0, &handles[1]),
              MPI_SUCCESS);
    ASSERT_EQ(GC_Submit(engine, "best", pairs.data(), best.data(), 10, MPI_DOUBLE_INT, MPI_MAXLOC,
                        0, &handles[2]),
              MPI_SUCCESS);
    ASSERT_EQ(GC_Handle_waitall(3, handles), MPI_SUCCESS);
    double expected = 1;
    for (int rank = 0; rank < ranks; ++rank) expected *= 0.5 * (rank + 1);
    EXPECT_EQ(most[999], ranks);
    EXPECT_DOUBLE_EQ(product[500], expected);
    EXPECT_EQ(best[9].index, ranks - 1);
}

TEST(EngineCalls, CompressedSumsAreTheSameOnAllRanks) {
    const OwnComm comm;
    for (const char* codec : {"2:4", "int8"})
        for (const char* strategy : {"tree", "ring", "ps"}) {
            const OwnEngine engine(comm, {{"gc_codec", codec},
                                          {"gc_compress_bytes", "0"},
                                          {"gc_compress_if", "always"},
                                          {"gc_engine", strategy}});
            std::vector<float> values(50'000);
            std::mt19937 random(static_cast<unsigned>(comm.rank()));
            std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
            for (float& value : values) value = uniform(random);
            GC_Handle handle = GC_HANDLE_NULL;
            ASSERT_EQ(GC_Submit(engine, "w", MPI_IN_PLACE, values.data(), 50'000, MPI_FLOAT,
                                MPI_SUM, 0, &handle),
                      MPI_SUCCESS);
            ASSERT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);
            std::vector<float> of_rank_0 = values;
            MPI_Bcast(of_rank_0.data(), 50'000, MPI_FLOAT, 0, comm);
            EXPECT_EQ(std::memcmp(values.data(), of_rank_0.data(), 200'000), 0)
                << codec << strategy;
        }
}

GC_Residual residual_of(GC_Engine engine, const char* name, std::size_t count = dropped_count) {
    GC_Residual residual = GC_RESIDUAL_NULL;
    EXPECT_EQ(
        GC_Engine_get_residual(engine, name, static_cast<MPI_Count>(count), MPI_FLOAT, &residual),
        MPI_SUCCESS);
    return residual;
}

constexpr std::size_t bytes_without_values = 72;

std::vector<char> saved(GC_Residual residual) {
    std::size_t size = 0;
    EXPECT_EQ(GC_Residual_size(residual, &size), MPI_SUCCESS);
    std::vector<char> bytes(size);
    EXPECT_EQ(GC_Residual_save(residual, bytes.data(), size), MPI_SUCCESS);
    return bytes;
}

TEST(EngineCalls, StatisticsTellWhatWasSent) {
    const OwnComm comm;
    const LossyEngine engine(comm);
    for (int step = 0; step < 3; ++step) summed(engine, "w", noise_of(comm.rank(), 1));
    GC_Stats stats{};
    ASSERT_EQ(GC_Engine_get_stats(engine, &stats), MPI_SUCCESS);
    EXPECT_EQ(stats.calls_tree, 3U);
    EXPECT_EQ(stats.calls_compressed, comm.size() > 1 ? 3U : 0U);
    EXPECT_EQ(stats.bytes_reduced, 3 * dropped_count * sizeof(float));
    unsigned long long bytes[] = {stats.bytes_sent, stats.bytes_sent_exact};
    MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
    if (comm.size() > 1) {
        EXPECT_LT(10 * bytes[0], 9 * bytes[1]) << "in the memory of hosts nothing is compressed";
    }
    const int code = GC_Engine_get_stats(engine, nullptr);
    EXPECT_EQ(class_of(code), MPI_ERR_ARG);
    EXPECT_NE(error_text(code).find("stats is a null pointer"), std::string::npos);
}

TEST(EngineCalls, ADifferenceIsToldToAllAndTheEngineGoesOn) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "one rank differs from nobody";
    const OwnEngine engine(comm);
    std::vector<float> values(101, 1.0F);
    GC_Handle handle = GC_HANDLE_NULL;
    const int last = comm.size() - 1;
    ASSERT_EQ(GC_Submit(engine, "w", MPI_IN_PLACE, values.data(), comm.rank() == last ? 101 : 100,
                        MPI_FLOAT, MPI_SUM, 0, &handle),
              MPI_SUCCESS);
    const int code = GC_Handle_wait(&handle);
    EXPECT_EQ(class_of(code), MPI_ERR_ARG);
    EXPECT_NE(error_text(code).find("101 elements of fp32, sum, exact"), std::string::npos)
        << error_text(code);
    EXPECT_NE(error_text(code).find("100 elements"), std::string::npos);
    EXPECT_EQ(handle, GC_HANDLE_NULL);
    expect_right_sums(engine, comm, 5, false);
}

TEST(EngineCalls, TestDoesNotWaitAndFlushDoes) {
    const OwnComm comm;
    const OwnEngine engine(comm);
    std::vector<float> values(1000, 1.0F);
    GC_Handle handle = GC_HANDLE_NULL;
    ASSERT_EQ(
        GC_Submit(engine, "w", MPI_IN_PLACE, values.data(), 1000, MPI_FLOAT, MPI_SUM, 0, &handle),
        MPI_SUCCESS);
    ASSERT_EQ(GC_Engine_flush(engine), MPI_SUCCESS);
    int flag = 0;
    ASSERT_EQ(GC_Handle_test(&handle, &flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(handle, GC_HANDLE_NULL);
    EXPECT_EQ(values[999], static_cast<float>(comm.size()));
    ASSERT_EQ(
        GC_Submit(engine, "w", MPI_IN_PLACE, values.data(), 1000, MPI_FLOAT, MPI_SUM, 0, &handle),
        MPI_SUCCESS);
    for (flag = 0; flag == 0;) ASSERT_EQ(GC_Handle_test(&handle, &flag), MPI_SUCCESS);
    EXPECT_EQ(values[0], static_cast<float>(comm.size() * comm.size()));
}

// ---- error feedback

/// Returns how far the sum of the same gradient over some steps is off. Every step has equal bits
/// on all ranks.
double drift(MPI_Comm comm, GC_Engine engine) {
    constexpr int steps = 12;
    std::vector<double> expected = noise_sum(size_of(comm), 1);
    std::vector<double> total(dropped_count, 0.0);
    for (int step = 0; step < steps; ++step) {
        const std::vector<float> out = summed(engine, "w", noise_of(rank_of(comm), 1));
        std::vector<float> of_rank_0 = out;
        MPI_Bcast(of_rank_0.data(), static_cast<int>(dropped_count), MPI_FLOAT, 0, comm);
        EXPECT_EQ(std::memcmp(out.data(), of_rank_0.data(), dropped_count * sizeof(float)), 0)
            << step;
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += static_cast<double>(out[i]);
    }
    for (double& value : expected) value *= steps;
    return distance(total, expected);
}

TEST(EngineFeedback, WhatIsDroppedComesLaterWithEveryStrategy) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "one rank sends nothing";
    for (const char* codec : {"2:4", "int8", "bf16"})
        for (const char* strategy : {"tree", "ring", "ps"}) {
            const LossyEngine with(comm, codec, "on", strategy);
            const LossyEngine without(comm, codec, "off", strategy);
            EXPECT_LT(drift(comm, with), drift(comm, without) / 3) << codec << ' ' << strategy;
        }
}

TEST(EngineFeedback, EveryNameHasItsOwn) {
    const OwnComm comm;
    const LossyEngine alone(comm);
    const LossyEngine both(comm);
    for (unsigned step = 0; step < 4; ++step) {
        const std::vector<float> values = noise_of(comm.rank(), step);
        const std::vector<float> expected = summed(alone, "a", values);
        summed(both, "b", noise_of(comm.rank(), step + 100));
        EXPECT_EQ(summed(both, "a", values), expected) << step;
    }
}

TEST(EngineFeedback, StaysWhereverTheSumGoes) {
    const OwnComm comm;
    const LossyEngine one_way(comm);
    const LossyEngine by_turns(comm);
    for (unsigned step = 0; step < 4; ++step) {
        const std::vector<float> values = noise_of(comm.rank(), step);
        EXPECT_EQ(summed(by_turns, "w", values, step % 2 == 1), summed(one_way, "w", values))
            << step;
    }
}

TEST(EngineFeedback, ACheckpointIsRestoredBeforeTheFirstSum) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "one rank sends nothing";
    for (const char* strategy : {"tree", "ring", "ps"}) {
        std::vector<char> checkpoint;
        std::vector<float> expected;
        {
            const LossyEngine before(comm, "2:4", "on", strategy);
            for (unsigned step = 0; step < 3; ++step)
                summed(before, "w", noise_of(comm.rank(), step));
            checkpoint = saved(residual_of(before, "w"));
            expected = summed(before, "w", noise_of(comm.rank(), 3));
            // A rank that encodes nothing keeps nothing.
            EXPECT_EQ(saved(residual_of(before, "w")) == checkpoint,
                      checkpoint.size() == bytes_without_values);
        }
        const LossyEngine after(comm, "2:4", "on", strategy);
        ASSERT_EQ(GC_Residual_load(residual_of(after, "w"), checkpoint.data(), checkpoint.size()),
                  MPI_SUCCESS);
        EXPECT_EQ(saved(residual_of(after, "w")), checkpoint);
        EXPECT_EQ(summed(after, "w", noise_of(comm.rank(), 3)), expected) << strategy;
    }
}

TEST(EngineFeedback, AnotherVectorBeginsWithZeros) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "one rank sends nothing";
    const LossyEngine engine(comm);
    summed(engine, "w", noise_of(comm.rank(), 1));
    const GC_Residual residual = residual_of(engine, "w");
    GC_Residual other = GC_RESIDUAL_NULL;
    const int code = GC_Engine_get_residual(engine, "w", 5'000, MPI_FLOAT, &other);
    EXPECT_EQ(class_of(code), MPI_ERR_ARG);
    EXPECT_NE(error_text(code).find("its count is 20000, but the call's is 5000"),
              std::string::npos)
        << error_text(code);
    const std::vector<float> shorter = noise_of(comm.rank(), 1, 5'000);
    const std::vector<float> first = summed(engine, "w", shorter);
    EXPECT_EQ(summed(engine, "new", shorter), first);
    EXPECT_EQ(residual_of(engine, "w", 5'000), residual);
    ASSERT_EQ(GC_Residual_reset(residual), MPI_SUCCESS);
    EXPECT_EQ(summed(engine, "w", shorter), first);
}

TEST(EngineFeedback, ExactSumsHaveNone) {
    const OwnComm comm;
    const OwnEngine exact(comm);
    EXPECT_EQ(residual_of(exact, "w"), GC_RESIDUAL_NULL);
    const LossyEngine off(comm, "2:4", "off");
    EXPECT_EQ(residual_of(off, "w"), GC_RESIDUAL_NULL);
    const LossyEngine lossy(comm);
    GC_Residual residual = GC_RESIDUAL_NULL;
    ASSERT_EQ(GC_Engine_get_residual(lossy, "i", 1000, MPI_INT, &residual), MPI_SUCCESS);
    EXPECT_EQ(residual, GC_RESIDUAL_NULL) << "integers are never compressed";
}

TEST(EngineFeedback, WrongArgumentsAreNamed) {
    const OwnComm comm;
    const LossyEngine engine(comm);
    GC_Residual residual = GC_RESIDUAL_NULL;
    const auto expect_wrong = [&](int code, int expected, const char* what) {
        EXPECT_EQ(class_of(code), expected) << what;
        EXPECT_NE(error_text(code).find(what), std::string::npos) << error_text(code);
    };
    expect_wrong(GC_Engine_get_residual(engine, nullptr, 1, MPI_FLOAT, &residual), MPI_ERR_ARG,
                 "name is a null pointer");
    expect_wrong(GC_Engine_get_residual(engine, "w", 1, MPI_FLOAT, nullptr), MPI_ERR_ARG,
                 "residual is a null pointer");
    expect_wrong(GC_Engine_get_residual(engine, "w", -1, MPI_FLOAT, &residual), MPI_ERR_COUNT,
                 "count is -1");
    expect_wrong(GC_Engine_get_residual(engine, "w", 1, MPI_DATATYPE_NULL, &residual), MPI_ERR_TYPE,
                 "datatype");
    EXPECT_EQ(residual, GC_RESIDUAL_NULL);
    if (comm.size() == 1) return;

    std::vector<float> values = noise_of(comm.rank(), 1);
    GC_Handle handle = GC_HANDLE_NULL;
    ASSERT_EQ(GC_Submit(engine, "w", MPI_IN_PLACE, values.data(),
                        static_cast<MPI_Count>(dropped_count), MPI_FLOAT, MPI_SUM, 0, &handle),
              MPI_SUCCESS);
    expect_wrong(GC_Engine_get_residual(engine, "w", dropped_count, MPI_FLOAT, &residual),
                 MPI_ERR_ARG, "wait for its handle first");
    ASSERT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);
    residual = residual_of(engine, "w");
    expect_wrong(GC_Residual_free(&residual), MPI_ERR_ARG, "GC_Engine_free frees it");
}

/// MPI_Finalize drops the sums of an engine that the program does not free, so the last engine here
/// is not freed.
/// Some rank frees the engine too early: none does then, and all can go on with it.
TEST(EngineCalls, FreedTooEarlyOnOneRankIsAnErrorOfAll) {
    const OwnComm comm;
    if (comm.size() == 1) GTEST_SKIP() << "one rank waits for nobody";
    GC_Engine engine = GC_ENGINE_NULL;
    ASSERT_EQ(GC_Engine_create(comm, MPI_INFO_NULL, &engine), MPI_SUCCESS);
    std::vector<float> values(1000, 1.0F);
    GC_Handle handle = GC_HANDLE_NULL;
    const auto submit = [&] {
        return GC_Submit(engine, "w", MPI_IN_PLACE, values.data(), 1000, MPI_FLOAT, MPI_SUM, 0,
                         &handle);
    };
    // All others hand it in, so it cannot be complete anywhere.
    const bool is_late = comm.rank() == comm.size() - 1;
    if (!is_late) {
        ASSERT_EQ(submit(), MPI_SUCCESS);
    }
    const int code = GC_Engine_free(&engine);
    EXPECT_EQ(class_of(code), MPI_ERR_ARG);
    EXPECT_NE(error_text(code).find("1 gradients under way on some rank"), std::string::npos)
        << error_text(code);
    ASSERT_NE(engine, GC_ENGINE_NULL);
    if (is_late) {
        ASSERT_EQ(submit(), MPI_SUCCESS);
    }
    EXPECT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);
    EXPECT_EQ(values, std::vector<float>(1000, static_cast<float>(comm.size())));
    EXPECT_EQ(GC_Engine_free(&engine), MPI_SUCCESS);
}

TEST(EngineCalls, OneThatIsNotFreedEndsWithMPI) {
    static GC_Engine left = GC_ENGINE_NULL;
    ASSERT_EQ(GC_Engine_create(MPI_COMM_WORLD, MPI_INFO_NULL, &left), MPI_SUCCESS);
    expect_right_sums(left, MPI_COMM_WORLD, 3, false);
}

TEST(EngineCalls, WrongArgumentsAreNamed) {
    const OwnComm comm;
    const OwnEngine engine(comm);
    std::vector<float> values(10, 1.0F), out(10);
    GC_Handle handle = GC_HANDLE_NULL;
    const auto submit = [&](GC_Engine to, const char* name, const void* in, void* result,
                            MPI_Count count, MPI_Datatype type, MPI_Op op, GC_Handle* where) {
        return GC_Submit(to, name, in, result, count, type, op, 0, where);
    };
    const auto expect_wrong = [&](int code, int expected, const char* what) {
        EXPECT_EQ(class_of(code), expected) << what;
        EXPECT_NE(error_text(code).find(what), std::string::npos) << error_text(code);
    };
    const std::string long_name(300, 'n');
    expect_wrong(
        submit(engine, nullptr, values.data(), out.data(), 10, MPI_FLOAT, MPI_SUM, &handle),
        MPI_ERR_ARG, "name is a null pointer");
    expect_wrong(submit(engine, "", values.data(), out.data(), 10, MPI_FLOAT, MPI_SUM, &handle),
                 MPI_ERR_ARG, "name has no bytes");
    expect_wrong(submit(engine, long_name.c_str(), values.data(), out.data(), 10, MPI_FLOAT,
                        MPI_SUM, &handle),
                 MPI_ERR_ARG, "name has more than 255");
    expect_wrong(submit(engine, "w", values.data(), out.data(), 10, MPI_FLOAT, MPI_SUM, nullptr),
                 MPI_ERR_ARG, "handle is a null pointer");
    expect_wrong(submit(engine, "w", values.data(), out.data(), -1, MPI_FLOAT, MPI_SUM, &handle),
                 MPI_ERR_COUNT, "count");
    expect_wrong(submit(engine, "w", nullptr, out.data(), 10, MPI_FLOAT, MPI_SUM, &handle),
                 MPI_ERR_BUFFER, "sendbuf");
    expect_wrong(submit(engine, "w", values.data(), values.data(), 10, MPI_FLOAT, MPI_SUM, &handle),
                 MPI_ERR_BUFFER, "sendbuf");
    expect_wrong(
        submit(engine, "w", values.data(), out.data(), 10, MPI_DATATYPE_NULL, MPI_SUM, &handle),
        MPI_ERR_TYPE, "datatype");
    expect_wrong(
        submit(engine, "w", values.data(), out.data(), 10, MPI_FLOAT, MPI_OP_NULL, &handle),
        MPI_ERR_OP, "op");
    EXPECT_EQ(handle, GC_HANDLE_NULL);

    ASSERT_EQ(submit(engine, "w", values.data(), out.data(), 10, MPI_FLOAT, MPI_SUM, &handle),
              MPI_SUCCESS);
    GC_Handle other = GC_HANDLE_NULL;
    expect_wrong(submit(engine, "w", values.data(), out.data(), 10, MPI_FLOAT, MPI_SUM, &other),
                 MPI_ERR_ARG, "wait for its handle first");
    ASSERT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);

    int flag = 0;
    EXPECT_EQ(GC_Handle_wait(&handle), MPI_SUCCESS);  // null: complete
    EXPECT_EQ(GC_Handle_test(&handle, &flag), MPI_SUCCESS);
    EXPECT_EQ(flag, 1);
}

TEST(EngineCalls, SettingsThatEnginesCannotKeepAreRefused) {
    const OwnComm comm;
    GC_Engine engine = GC_ENGINE_NULL;
    const auto expect_refused = [&](const char* key, const char* value, const char* what) {
        const int code = GC_Engine_create(comm, Info({{key, value}}), &engine);
        EXPECT_EQ(class_of(code), MPI_ERR_ARG) << key;
        EXPECT_NE(error_text(code).find(what), std::string::npos) << error_text(code);
        EXPECT_EQ(engine, GC_ENGINE_NULL);
    };
    expect_refused("gc_tolerance", "abs=1", "gc_tolerance");
    expect_refused("gc_codec", "0:2:4", "schedule in gc_codec");
    expect_refused("gc_engine", "star", "tree, ring, ps");
    expect_refused("gc_engine", "threads=65", "64");
    expect_refused("gc_engine", "ring,thread=2", "threads=, bytes=");
    expect_refused("gc_engine", "bytes=1M,bytes=2M", "said twice");
}

}  // namespace
}  // namespace gradcoll::test
