// Sums go through the memory of each host and between their leaders; ranks are dealt to hosts that
// are not there.
#include "ways/hosts/several_hosts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "comm/identified_comm.hpp"
#include "ways/hosts/dealt_hosts.hpp"
#include "ways/tree/comm_plans.hpp"

namespace gradcoll::test {
namespace {

class SeveralHostsTest : public testing::TestWithParam<Hosts> {
  protected:
    void SetUp() override { use("exact"); }

    void use(const char* codec, const char* tolerance = "per-hop") {
        SettingsText text = SettingsText::from_environment();
        text.set(OptionId::codec, codec);
        text.set(OptionId::tolerance, tolerance);
        text.set(OptionId::tree_min_bytes, "16K");
        text.set(OptionId::compress_bytes, "16K");
        settings_.take(text, *Settings::parse(text));
        way_.settings_changed(nullptr);
        const Deal& deal = GetParam().deal;
        ASSERT_TRUE(way_.open(HostGroups::make(comm_.identity(), deal(rank_, ranks_))));
        way_.know_tree(std::make_shared<const DiscoveredTree>(
            DiscoveredTree{tree_of(deal, ranks_), "test", {}}));
    }

    template <class T>
    std::vector<T> inputs(int count) const {
        std::vector<T> values(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<T>((i * 7 + static_cast<std::size_t>(rank_) * 13) % 31);
        return values;
    }

    Status run(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, bool compress,
               double tolerance = 0, const Status* refusal = nullptr) {
        const CallArguments arguments{in, out, count, type, op, MPI_COMM_WORLD};
        const CallShape shape = classify(count, type, op).shape;
        const WayOffer takes = way_.takes(shape);
        EXPECT_TRUE(compress ? takes.lossy : takes.exact);
        CallKey key;
        key.type = shape.type;
        key.elem_bytes = static_cast<std::uint32_t>(shape.elem_bytes);
        key.count = shape.count;
        key.compress = compress;
        return way_.run({.arguments = arguments,
                         .shape = shape,
                         .key = key,
                         .tolerance = tolerance,
                         .refusal = refusal});
    }

    IdentifiedComm comm_;
    int rank_ = rank_of(MPI_COMM_WORLD);
    int ranks_ = size_of(MPI_COMM_WORLD);
    CommSettings settings_{comm_.identity().private_comm(), true, std::make_shared<const Tuning>()};
    CommStatistics statistics_{comm_.identity().private_comm()};
    CommPlans plans_{comm_.identity(), &statistics_};
    SeveralHosts way_{{comm_.identity(), settings_, statistics_, plans_}};
};

TEST_P(SeveralHostsTest, ExactSumsAreThoseOfMpi) {
    for (const int count : {1, 3, 100, 4096, 100003, 1 << 20}) {
        const auto in = inputs<float>(count);
        std::vector<float> expected(in.size()), out(in.size());
        MPI_Allreduce(in.data(), expected.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        ASSERT_TRUE(run(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, false).ok());
        ASSERT_EQ(out, expected) << count;
        out = in;
        ASSERT_TRUE(run(MPI_IN_PLACE, out.data(), count, MPI_FLOAT, MPI_SUM, false).ok());
        ASSERT_EQ(out, expected) << count << " in place";
    }
}

TEST_P(SeveralHostsTest, OtherTypesAndOpsToo) {
    for (const int count : {5, 60000}) {
        const auto in = inputs<long>(count);
        std::vector<long> expected(in.size()), out(in.size());
        for (const MPI_Op op : {MPI_MAX, MPI_MIN, MPI_PROD, MPI_BAND, MPI_BOR, MPI_LAND}) {
            MPI_Allreduce(in.data(), expected.data(), count, MPI_LONG, op, MPI_COMM_WORLD);
            ASSERT_TRUE(run(in.data(), out.data(), count, MPI_LONG, op, false).ok());
            ASSERT_EQ(out, expected) << count;
        }
    }
}

/// Whoever refuses a call, all ranks get an error; no host takes what the others have for a sum.
TEST_P(SeveralHostsTest, ARefusalIsTheErrorOfAllRanks) {
    const Status why(Code::invalid_buffer, "recvbuf is null");
    for (const int count : {1, 100, 60000})
        for (int refusing = 0; refusing < ranks_; ++refusing)
            for (const MPI_Op op : {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX}) {
                const auto in = inputs<float>(count);
                std::vector<float> out(in.size());
                const Status* const refusal = rank_ == refusing ? &why : nullptr;
                EXPECT_FALSE(
                    run(in.data(), out.data(), count, MPI_FLOAT, op, false, 0, refusal).ok())
                    << count << " elements, rank " << refusing;
                EXPECT_TRUE(run(in.data(), out.data(), count, MPI_FLOAT, op, false).ok());
            }
}

TEST_P(SeveralHostsTest, CompressedSumsAreAlikeOnAllRanksAndSparse) {
    use("2:4");
    if (way_.between()->tree->tree.rank_count() == 1) GTEST_SKIP() << "needs two hosts";
    for (const int count : {5000, 70001, 1 << 20}) {
        const auto in = inputs<float>(count);
        std::vector<float> out(in.size());
        ASSERT_TRUE(run(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, true).ok());
        std::vector<float> first = out;
        MPI_Bcast(first.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD);
        ASSERT_EQ(out, first);
        for (std::size_t i = 0; i + 4 <= out.size(); i += 4)
            ASSERT_GE(std::count(out.begin() + static_cast<std::ptrdiff_t>(i),
                                 out.begin() + static_cast<std::ptrdiff_t>(i) + 4, 0.0F),
                      2)
                << i;
    }
    const GC_Stats stats = statistics_.read();
    EXPECT_EQ(stats.calls_compressed, 3U);
    EXPECT_LE(stats.bytes_sent, stats.bytes_sent_exact);
}

/// Vectors have several pieces, each with a plan and a count of encodings of its own.
TEST_P(SeveralHostsTest, CompressedSumsAreWithinTheTolerance) {
    use("bound", "abs=1");
    if (way_.between()->tree->tree.rank_count() == 1) GTEST_SKIP() << "needs two hosts";
    for (const int count : {20000, (3 << 20) + 5}) {
        std::vector<double> in(static_cast<std::size_t>(count)), exact(in.size()), out(in.size());
        for (std::size_t i = 0; i < in.size(); ++i)
            in[i] = std::sin(static_cast<double>(i * 31 % 8191) + rank_);
        MPI_Allreduce(in.data(), exact.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (const double tolerance : {0.1, 1e-5}) {
            ASSERT_TRUE(
                run(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, true, tolerance).ok());
            double farthest = 0;
            for (std::size_t i = 0; i < out.size(); ++i)
                farthest = std::max(farthest, std::abs(out[i] - exact[i]));
            EXPECT_LE(farthest, tolerance * (1 + 1e-9));
            EXPECT_GT(farthest, tolerance / 20) << "nothing was lost, so nothing was encoded";
        }
    }
}

TEST_P(SeveralHostsTest, CallsAreCountedOnceOnEveryRank) {
    const auto in = inputs<float>(3 << 20);
    std::vector<float> out(in.size());
    for (const int count : {10, 3 << 20})
        ASSERT_TRUE(run(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, false).ok());
    EXPECT_EQ(statistics_.read().calls_tree, 2U);
    EXPECT_EQ(statistics_.read().bytes_reduced, 4U * (10 + (3 << 20)));
}

TEST_P(SeveralHostsTest, ATreeThatMixesHostsServesShortCallsAlone) {
    if (ranks_ < 4) GTEST_SKIP() << "needs two hosts of two ranks";
    way_.settings_changed(nullptr);
    ASSERT_TRUE(way_.open(HostGroups::make(comm_.identity(), rank_ / 2)));
    way_.know_tree(std::make_shared<const DiscoveredTree>(
        DiscoveredTree{tree_of([](int rank, int) { return rank % 2; }, ranks_), "test", {}}));
    const CallShape shape = classify(1 << 20, MPI_FLOAT, MPI_SUM).shape;
    EXPECT_FALSE(way_.takes(shape).exact);
    EXPECT_FALSE(way_.takes_long());
    float sum = 0;
    const float one = 1;
    EXPECT_TRUE(run(&one, &sum, 1, MPI_FLOAT, MPI_SUM, false).ok());
    EXPECT_EQ(sum, static_cast<float>(ranks_));
}

INSTANTIATE_TEST_SUITE_P(Hosts, SeveralHostsTest, testing::ValuesIn(all_hosts), name_of_hosts);

}  // namespace
}  // namespace gradcoll::test
