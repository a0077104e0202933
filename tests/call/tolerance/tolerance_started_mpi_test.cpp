// gc_tolerance of calls that nobody waits in: nonblocking ones, and persistent requests.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "call/tolerance/tolerance_support.hpp"

namespace gradcoll::test {
namespace {

/// Kept is a communicator with a tolerance, and with a codec on every tree.
struct Kept {
    explicit Kept(const std::string& tree, const char* codec = "bound") : comm(tree) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // for errors of waiting
        comm.set("gc_tolerance", "abs=1");
        EXPECT_EQ(GC_Comm_set_codec(comm, codec), MPI_SUCCESS);
    }
    void promise(const std::string& text) const { comm.set("gc_tolerance", text.c_str()); }

    OwnComm comm;
};

template <class T>
void expect_within(const OwnComm& comm, const std::vector<T>& values, const Whole<T>& whole,
                   long double promised) {
    EXPECT_TRUE(same_on_all_ranks(values, comm));
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_LE(std::abs(static_cast<long double>(values[i]) - whole.sums[i]), promised)
            << "element " << i << " of " << values.size();
}

template <class T>
void expect_started_kept(const Kept& kept, Value value, std::size_t count, bool by_range,
                         double tolerance) {
    const Whole<T> whole(value, kept.comm.size(), count);
    kept.promise((by_range ? "range=" : "abs=") + std::to_string(tolerance));
    const std::vector<T> in = values_of<T>(value, kept.comm.rank(), count);
    std::vector<T> out(count);
    MPI_Request started = MPI_REQUEST_NULL;
    ASSERT_EQ(GC_Iallreduce(in.data(), out.data(), static_cast<int>(count), datatype<T>(), MPI_SUM,
                            kept.comm, &started),
              MPI_SUCCESS);
    const int code = MPI_Wait(&started, MPI_STATUS_IGNORE);
    const long double said = std::stold(std::to_string(tolerance));
    const long double promised = by_range ? whole.range * said : said;
    const long double at_best = whole.at_best() * 1.001L;
    if (code != MPI_SUCCESS) {
        EXPECT_GT(at_best, promised);
    }
    expect_within(kept.comm, out, whole, code == MPI_SUCCESS ? promised : at_best);
}

void expect_every_started_kept(const std::string& tree, const char* codec,
                               const std::vector<bool>& by_range_or_not) {
    SCOPED_TRACE(tree + " " + codec);
    const Kept kept(tree, codec);
    const auto expect_kept = [&](Value value, std::size_t count, double tolerance) {
        for (const bool by_range : by_range_or_not) {
            expect_started_kept<float>(kept, value, count, by_range, tolerance);
            expect_started_kept<double>(kept, value, count, by_range, tolerance);
        }
    };
    for (const double tolerance : {0.5, 0.01, 0.00001})
        for (const Value value : distributions)
            for (const std::size_t count : lengths) expect_kept(value, count, tolerance);
    for (const Value value : hard) expect_kept(value, 5000, 0.01);
    if (kept.comm.size() > 1) {
        EXPECT_GT(kept.comm.stats().calls_compressed, 0U);
        EXPECT_LT(kept.comm.stats().bytes_sent, kept.comm.stats().bytes_sent_exact);
    }
}

/// One codec is tried on all trees, as it is for blocking calls.
TEST(ToleranceStarted, NonblockingSumsAreNotFurtherOffOnAnyTree) {
    const std::vector<std::string> trees = trees_for(size_of(MPI_COMM_WORLD));
    for (const std::string& tree : trees) expect_every_started_kept(tree, "bound", {false});
    for (const char* codec : {"bound", "int8", "int8+zstd"})
        expect_every_started_kept(trees.back(), codec, {false, true});
}

TEST(ToleranceStarted, ItIsLossyWhereItMayBe) {
    const Kept kept(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (kept.comm.size() == 1) GTEST_SKIP() << "nothing is sent";
    const Whole<float> whole(evenly, kept.comm.size(), 5000);
    std::vector<float> values = values_of<float>(evenly, kept.comm.rank(), 5000);
    MPI_Request started = MPI_REQUEST_NULL;
    ASSERT_EQ(
        GC_Iallreduce(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM, kept.comm, &started),
        MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&started, MPI_STATUS_IGNORE), MPI_SUCCESS);
    long double farthest = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        farthest = std::max(farthest, std::abs(values[i] - whole.sums[i]));
    EXPECT_GT(farthest, whole.additions_lose());
    EXPECT_LE(farthest, 1.0L);
}

/// The tolerance is too little for any codec: the sum is as exact as its type, and headers are all
/// that is added to its bytes.
TEST(ToleranceStarted, WhatLeavesCodecsTooLittleLosesNothing) {
    const Kept kept(trees_for(size_of(MPI_COMM_WORLD)).back());
    kept.promise("abs=1e-9");
    std::vector<float> values = values_of<float>(evenly, kept.comm.rank(), 50'000);
    const Whole<float> whole(evenly, kept.comm.size(), 50'000);
    MPI_Request started = MPI_REQUEST_NULL;
    ASSERT_EQ(
        GC_Iallreduce(MPI_IN_PLACE, values.data(), 50'000, MPI_FLOAT, MPI_SUM, kept.comm, &started),
        MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&started, MPI_STATUS_IGNORE) == MPI_SUCCESS, kept.comm.size() == 1);
    expect_within(kept.comm, values, whole, whole.at_best());
    const GC_Stats stats = kept.comm.stats();
    EXPECT_LE(stats.bytes_sent, stats.bytes_sent_exact + 64 * stats.messages_sent);
}

/// Many calls are under way at once, some of them exact, with blocking calls between them; they are
/// completed in the opposite order.
TEST(ToleranceStarted, ManyOverlapWithOneAnotherAndWithBlockingCalls) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const Kept kept(tree);
        kept.promise("range=0.001");
        constexpr std::size_t many = 100;  // more than the tags of MPI's least limit tell apart
        std::array<std::vector<float>, many> values;
        std::array<MPI_Request, many> requests;
        std::vector<float> blocking = values_of<float>(smooth, kept.comm.rank(), 1000);
        for (std::size_t i = 0; i < many; ++i) {
            values[i] = values_of<float>(distributions[i % 4], kept.comm.rank(), 100 + 37 * i);
            const MPI_Op op = i % 5 == 4 ? MPI_MAX : MPI_SUM;
            ASSERT_EQ(
                GC_Iallreduce(MPI_IN_PLACE, values[i].data(), static_cast<int>(values[i].size()),
                              MPI_FLOAT, op, kept.comm, &requests[i]),
                MPI_SUCCESS);
            if (i % 30 != 29) continue;
            ASSERT_EQ(
                GC_Allreduce(MPI_IN_PLACE, blocking.data(), 1000, MPI_FLOAT, MPI_SUM, kept.comm),
                MPI_SUCCESS);
        }
        for (std::size_t i = many; i-- > 0;) {
            ASSERT_EQ(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), MPI_SUCCESS);
            if (i % 5 == 4) continue;
            const Whole<float> whole(distributions[i % 4], kept.comm.size(), values[i].size());
            expect_within(kept.comm, values[i], whole, whole.range * 0.001L);
        }
    }
}

TEST(ToleranceStarted, NanAndInfinityComeThrough) {
    const Kept kept(trees_for(size_of(MPI_COMM_WORLD)).back());
    std::vector<float> values = floats<float>(kept.comm.rank(), 5000);
    if (kept.comm.rank() == kept.comm.size() - 1) {
        values[7] = std::nanf("");
        values[600] = -std::numeric_limits<float>::infinity();
    }
    MPI_Request started = MPI_REQUEST_NULL;
    ASSERT_EQ(
        GC_Iallreduce(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM, kept.comm, &started),
        MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&started, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(std::isnan(values[7]));
    EXPECT_EQ(values[600], -std::numeric_limits<float>::infinity());
}

/// Each start looks at the inputs anew: they change from one to the next, and with them what
/// `range=` promises.
TEST(ToleranceStarted, PersistentRequestsAreNotFurtherOffAtAnyStart) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const Kept kept(tree);
        kept.promise("range=0.0005");
        constexpr std::size_t count = 5000;
        std::array<std::vector<double>, 3> in, out;
        std::array<GC_Request, 3> requests;
        for (std::size_t r = 0; r < requests.size(); ++r) {
            in[r].resize(count);
            out[r].resize(count);
            ASSERT_EQ(GC_Allreduce_init(in[r].data(), out[r].data(), count, MPI_DOUBLE, MPI_SUM,
                                        kept.comm, MPI_INFO_NULL, &requests[r]),
                      MPI_SUCCESS);
        }
        for (std::size_t step = 0; step < 8; ++step) {
            const auto value_of_request = [&](std::size_t r) {
                return distributions[(step + r) % 4];
            };
            for (std::size_t r = 0; r < requests.size(); ++r)
                std::ranges::copy(values_of<double>(value_of_request(r), kept.comm.rank(), count),
                                  in[r].begin());
            ASSERT_EQ(GC_Startall(static_cast<int>(requests.size()), requests.data()), MPI_SUCCESS);
            // Ranks wait in different orders.
            for (std::size_t i = 0; i < requests.size(); ++i) {
                const auto rank = static_cast<std::size_t>(kept.comm.rank());
                ASSERT_EQ(GC_Wait(&requests[(i + rank) % requests.size()]), MPI_SUCCESS);
            }
            for (std::size_t r = 0; r < requests.size(); ++r) {
                const Whole<double> whole(value_of_request(r), kept.comm.size(), count);
                expect_within(kept.comm, out[r], whole, whole.range * 0.0005L);
            }
        }
        for (GC_Request& request : requests) ASSERT_EQ(GC_Request_free(&request), MPI_SUCCESS);
        if (kept.comm.size() > 1) {
            EXPECT_EQ(kept.comm.stats().calls_compressed, 24U);
            EXPECT_LT(kept.comm.stats().bytes_sent, kept.comm.stats().bytes_sent_exact);
        }
    }
}

/// Rank 0 looks at inputs while the others wait for a request that it has started, too.
TEST(ToleranceStarted, WhatIsStartedGoesOnWhileABlockingCallLooks) {
    const Kept kept(trees_for(size_of(MPI_COMM_WORLD)).back());
    alarm(60);  // a call that hangs is a failure
    std::vector<float> started = values_of<float>(smooth, kept.comm.rank(), 500'000);
    std::vector<float> blocking = started;
    GC_Request request = GC_REQUEST_NULL;
    ASSERT_EQ(GC_Allreduce_init(MPI_IN_PLACE, started.data(), static_cast<int>(started.size()),
                                MPI_FLOAT, MPI_SUM, kept.comm, MPI_INFO_NULL, &request),
              MPI_SUCCESS);
    const bool waits_first = kept.comm.rank() != 0;
    ASSERT_EQ(GC_Start(&request), MPI_SUCCESS);
    if (waits_first) {
        ASSERT_EQ(GC_Wait(&request), MPI_SUCCESS);
    }
    ASSERT_EQ(GC_Allreduce(MPI_IN_PLACE, blocking.data(), static_cast<int>(blocking.size()),
                           MPI_FLOAT, MPI_SUM, kept.comm),
              MPI_SUCCESS);
    if (!waits_first) {
        ASSERT_EQ(GC_Wait(&request), MPI_SUCCESS);
    }
    alarm(0);
    ASSERT_EQ(GC_Request_free(&request), MPI_SUCCESS);
}

/// Returns what is written to standard error meanwhile.
template <class Work>
std::string said_by(Work&& work) {
    testing::internal::CaptureStderr();
    work();
    return testing::internal::GetCapturedStderr();
}

bool has(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

/// Rank 0 says it once a process.
TEST(ToleranceStarted, WhatIsNotHeldToItIsSaid) {
    const Kept kept(trees_for(size_of(MPI_COMM_WORLD)).back());
    if (kept.comm.size() == 1) GTEST_SKIP() << "nothing is added";
    kept.comm.set("gc_reproducible", "on");
    std::vector<float> values = values_of<float>(evenly, kept.comm.rank(), 5000);
    const auto passes = [&] {
        MPI_Request started = MPI_REQUEST_NULL;
        ASSERT_EQ(GC_Iallreduce(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM, kept.comm,
                                &started),
                  MPI_SUCCESS);
        ASSERT_EQ(MPI_Wait(&started, MPI_STATUS_IGNORE), MPI_SUCCESS);
    };
    constexpr const char* of_mpi = "whose additions are not held to gc_tolerance";
    EXPECT_EQ(has(said_by(passes), of_mpi), kept.comm.rank() == 0);
    EXPECT_FALSE(has(said_by(passes), of_mpi));

    GC_Residual residual = GC_RESIDUAL_NULL;
    ASSERT_EQ(GC_Residual_create(kept.comm, 5000, MPI_FLOAT, &residual), MPI_SUCCESS);
    const auto adds = [&] {
        ASSERT_EQ(GC_Allreduce_residual(MPI_IN_PLACE, values.data(), 5000, MPI_FLOAT, MPI_SUM,
                                        kept.comm, residual),
                  MPI_SUCCESS);
    };
    constexpr const char* of_residual = "gc_tolerance promises nothing of calls with a residual";
    EXPECT_EQ(has(said_by(adds), of_residual), kept.comm.rank() == 0);
    EXPECT_FALSE(has(said_by(adds), of_residual));
    EXPECT_EQ(GC_Residual_free(&residual), MPI_SUCCESS);
}

/// A residual would carry what one result lost into another.
TEST(ToleranceStarted, PersistentRequestsHaveNoResidualWithIt) {
    const Kept kept(trees_for(size_of(MPI_COMM_WORLD)).back());
    std::vector<float> values(1000);
    GC_Request request = GC_REQUEST_NULL;
    ASSERT_EQ(GC_Allreduce_init(MPI_IN_PLACE, values.data(), 1000, MPI_FLOAT, MPI_SUM, kept.comm,
                                MPI_INFO_NULL, &request),
              MPI_SUCCESS);
    GC_Residual residual = GC_RESIDUAL_NULL;
    ASSERT_EQ(GC_Request_get_residual(request, &residual), MPI_SUCCESS);
    EXPECT_EQ(residual, GC_RESIDUAL_NULL);
    ASSERT_EQ(GC_Request_free(&request), MPI_SUCCESS);
}

}  // namespace
}  // namespace gradcoll::test
