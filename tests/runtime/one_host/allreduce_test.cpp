// Allreduce through shared memory: ranks as threads over plain memory, against a plain sum in rank
// order.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "host.hpp"

namespace gradcoll {
namespace {

using test::Host;
using test::HostRank;
using test::small_choices;

std::vector<float> values_of(int rank, std::size_t call, std::size_t count) {
    std::minstd_rand random(static_cast<unsigned>(rank + 1) * 7919U + static_cast<unsigned>(call));
    std::uniform_real_distribution<float> values(-1, 1);
    std::vector<float> out(count);
    for (float& each : out) each = values(random);
    return out;
}

std::vector<float> sums_in_rank_order(int rank_count, std::size_t call, std::size_t count) {
    std::vector<float> sums(count, 0.0F);
    for (int rank = 0; rank < rank_count; ++rank) {
        const std::vector<float> values = values_of(rank, call, count);
        for (std::size_t i = 0; i < count; ++i) sums[i] += values[i];
    }
    return sums;
}

/// Trees of more than 8 ranks sum by groups, whose bits differ.
void expect_sums(const std::vector<float>& result, const std::vector<float>& sums, int ranks) {
    if (ranks <= 8) {
        ASSERT_EQ(result, sums);
        return;
    }
    for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_NEAR(result[i], sums[i], 1e-5F);
}

Reducer float_sum() {
    return reducer_for(ReduceOp::sum, ElementType::f32);
}

/// These counts are around every border: inline, one block, a block a rank, many rounds of the
/// slots.
const std::size_t counts[] = {0,   1,   15,   16,   124,  125,  250,  251,  511,
                              512, 513, 1023, 1024, 1025, 4096, 5000, 20011};

class RanksOnAHost : public testing::TestWithParam<int> {};

TEST_P(RanksOnAHost, AllGetTheSumInRankOrderBackToBack) {
    const int ranks = GetParam();
    Host host(ranks, small_choices());
    std::vector<std::vector<float>> expected;
    for (std::size_t call = 0; call < std::size(counts); ++call)
        expected.push_back(sums_in_rank_order(ranks, call, counts[call]));

    host.run([&](HostRank& self) {
        const int rank = self.rank;
        OneHostAllreduce& allreduce = self.allreduce;
        for (int round = 0; round < 3; ++round)
            for (std::size_t call = 0; call < std::size(counts); ++call) {
                const std::size_t count = counts[call];
                std::vector<float> data = values_of(rank, call, count);
                std::vector<float> apart(count + 1, 42.0F);
                const bool in_place = (call + static_cast<std::size_t>(round)) % 2 == 0;
                float* out = in_place ? data.data() : apart.data();
                ASSERT_TRUE(
                    allreduce.run({data.data(), out, count, float_sum(), 1000 + call}).ok());
                const std::vector<float> result(out, out + count);
                SCOPED_TRACE(testing::Message() << "rank " << rank << ", " << count << " elements");
                expect_sums(result, expected[call], ranks);
                EXPECT_EQ(apart[count], 42.0F);
            }
    });
}

Status run_in_steps(OneHostAllreduce& allreduce, const OneHostCall& call) {
    allreduce.start(call);
    while (!allreduce.is_over())
        if (!allreduce.advance()) std::this_thread::yield();
    return allreduce.outcome();
}

TEST_P(RanksOnAHost, StartedCallsGiveTheSumBetweenOthers) {
    const int ranks = GetParam();
    Host host(ranks, small_choices());
    std::vector<std::vector<float>> expected;
    for (std::size_t call = 0; call < std::size(counts); ++call)
        expected.push_back(sums_in_rank_order(ranks, call, counts[call]));
    host.run([&](HostRank& self) {
        for (std::size_t round = 0; round < 4; ++round)
            for (std::size_t call = 0; call < std::size(counts); ++call) {
                std::vector<float> data = values_of(self.rank, call, counts[call]);
                const OneHostCall it{data.data(), data.data(), counts[call], float_sum(),
                                     1000 + call};
                const bool in_steps = (call + round) % 3 != 0;
                ASSERT_TRUE(
                    (in_steps ? run_in_steps(self.allreduce, it) : self.allreduce.run(it)).ok());
                expect_sums(data, expected[call], ranks);
            }
    });
}

/// ScatteredVector is a vector that lies in pieces of random lengths, some of them empty, some in
/// place and some not, with something before and behind each.
class ScatteredVector {
  public:
    ScatteredVector(const std::vector<float>& values, unsigned seed) : count_(values.size()) {
        std::minstd_rand random(seed);
        inputs_.reserve(most_parts);
        outputs_.reserve(most_parts);
        for (std::size_t begin = 0; begin < count_ || parts_.empty();) {
            const std::size_t longest = random() % 3 == 0 ? 2000 : 70;
            const std::size_t elems = parts_.size() + 1 == most_parts
                                          ? count_ - begin
                                          : std::min(count_ - begin, random() % longest);
            add(values, begin, elems, random() % 2 == 0);
            begin += elems;
        }
    }
    std::span<const VectorPart> parts() const { return parts_; }

    std::vector<float> result() const {
        std::vector<float> whole(count_);
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const std::vector<float>& part = outputs_[i].empty() ? inputs_[i] : outputs_[i];
            std::copy(part.begin() + 1, part.end() - 1, whole.begin() + parts_[i].begin_elem);
        }
        return whole;
    }
    bool has_its_margins() const {
        const auto has = [](const std::vector<float>& part) {
            return part.empty() || (part.front() == margin && part.back() == margin);
        };
        return std::all_of(inputs_.begin(), inputs_.end(), has) &&
               std::all_of(outputs_.begin(), outputs_.end(), has);
    }

  private:
    static constexpr std::size_t most_parts = 400;
    static constexpr float margin = 42.0F;

    void add(const std::vector<float>& values, std::size_t begin, std::size_t elems,
             bool in_place) {
        std::vector<float>& input = inputs_.emplace_back(elems + 2, margin);
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin), elems, input.begin() + 1);
        std::vector<float>& output = outputs_.emplace_back(in_place ? 0 : elems + 2, margin);
        std::vector<float>& to = in_place ? input : output;
        parts_.push_back({static_cast<std::int64_t>(begin),
                          reinterpret_cast<const std::byte*>(input.data() + 1),
                          reinterpret_cast<std::byte*>(to.data() + 1), nullptr});
    }

    std::size_t count_;
    std::vector<std::vector<float>> inputs_;
    std::vector<std::vector<float>> outputs_;  // empty where a part is in place
    std::vector<VectorPart> parts_;
};

TEST_P(RanksOnAHost, VectorsInPartsGiveTheSumOfWholeOnes) {
    const int ranks = GetParam();
    Host host(ranks, small_choices(ranks));
    std::vector<std::vector<float>> expected;
    for (std::size_t call = 0; call < std::size(counts); ++call)
        expected.push_back(sums_in_rank_order(ranks, call, counts[call]));
    host.run([&](HostRank& self) {
        for (unsigned round = 0; round < 6; ++round)
            for (std::size_t call = 0; call < std::size(counts); ++call) {
                const auto seed = static_cast<unsigned>(self.rank) * 977U + round * 31U +
                                  static_cast<unsigned>(call);
                std::vector<float> values = values_of(self.rank, call, counts[call]);
                const ScatteredVector vector(values, seed);
                OneHostCall it{values.data(), values.data(), counts[call], float_sum(),
                               1000 + call};
                // What one rank has in parts another may have in one piece.
                const bool scattered = (static_cast<unsigned>(self.rank) + round) % 3 != 0;
                if (scattered) {
                    it.parts = vector.parts();
                    it.input = it.output = nullptr;
                }
                ASSERT_TRUE(
                    (round % 2 == 0 ? run_in_steps(self.allreduce, it) : self.allreduce.run(it))
                        .ok());
                expect_sums(scattered ? vector.result() : values, expected[call], ranks);
                EXPECT_TRUE(vector.has_its_margins());
            }
    });
}

TEST_P(RanksOnAHost, StartedCallsThatDifferFailOnAllRanksAndTheNextOneIsRight) {
    const int ranks = GetParam();
    Host host(ranks, small_choices());
    const std::vector<float> expected = sums_in_rank_order(ranks, 7, 3000);
    host.run([&](HostRank& self) {
        for (const std::size_t other : {std::size_t{600}, std::size_t{9000}}) {
            const std::size_t count = self.rank == ranks - 1 ? other : 700;
            std::vector<float> data(count, 1.0F);
            const Status status =
                run_in_steps(self.allreduce, {data.data(), data.data(), count, float_sum(), count});
            EXPECT_EQ(status.code(), Code::invalid_argument);
            std::vector<float> good = values_of(self.rank, 7, 3000);
            ASSERT_TRUE(
                run_in_steps(self.allreduce, {good.data(), good.data(), 3000, float_sum(), 3000})
                    .ok());
            expect_sums(good, expected, ranks);
        }
    });
}

TEST_P(RanksOnAHost, CostlyCallsAreSharedEarlierAndGiveTheSame) {
    const int ranks = GetParam();
    OneHostChoices choices = small_choices();
    choices.flat_max_bytes = SIZE_MAX;
    choices.early_split_bytes = 1024;
    Host host(ranks, choices);
    const std::size_t lengths[] = {60, 256, 257, 5000};
    std::vector<std::vector<float>> sums;
    for (const std::size_t count : lengths) sums.push_back(sums_in_rank_order(ranks, 1, count));
    host.run([&](HostRank& self) {
        const int rank = self.rank;
        OneHostAllreduce& allreduce = self.allreduce;
        for (std::size_t call = 0; call < std::size(lengths); ++call)
            for (const bool costly : {true, false, true}) {
                const std::size_t count = lengths[call];
                std::vector<float> data = values_of(rank, 1, count);
                ASSERT_TRUE(
                    allreduce.run({data.data(), data.data(), count, float_sum(), count, costly})
                        .ok());
                expect_sums(data, sums[call], ranks);
            }
    });
}

TEST_P(RanksOnAHost, DifferentCallsFailOnAllRanksAndTheNextOneIsRight) {
    const int ranks = GetParam();
    Host host(ranks, small_choices());
    const std::size_t other_counts[] = {5, 600, 9000};
    const std::vector<float> expected = sums_in_rank_order(ranks, 7, 3000);

    host.run([&](HostRank& self) {
        const int rank = self.rank;
        OneHostAllreduce& allreduce = self.allreduce;
        for (const std::size_t other : other_counts) {
            const std::size_t count = rank == ranks - 1 ? other : 700;
            std::vector<float> data(count, 1.0F);
            const Status status =
                allreduce.run({data.data(), data.data(), count, float_sum(), count});
            EXPECT_EQ(status.code(), Code::invalid_argument);
            EXPECT_NE(status.message().find("count, datatype or op"), std::string::npos);

            std::vector<float> good = values_of(rank, 7, 3000);
            ASSERT_TRUE(allreduce.run({good.data(), good.data(), 3000, float_sum(), 3000}).ok());
            expect_sums(good, expected, ranks);
        }
    });
}

TEST_P(RanksOnAHost, BlocksMayChangeTheirSizeBetweenCalls) {
    const int ranks = GetParam();
    constexpr std::size_t count = 5000;
    const OneHostChoices choices = small_choices(ranks);
    Host host(ranks, choices);
    host.run([&](HostRank& self) {
        std::size_t most = choices.sizes.block_bytes;
        for (std::uint64_t round = 1; round <= 12; ++round) {
            const std::vector<float> sums = sums_in_rank_order(ranks, round, count);
            const std::vector<float> values = values_of(self.rank, round, count);
            std::vector<float> result(count);
            self.group.use_blocks_of(round % 3 == 0 ? most : most / (round % 3 + 1));
            EXPECT_TRUE(
                self.allreduce.run({values.data(), result.data(), count, float_sum(), 7}).ok());
            expect_sums(result, sums, ranks);
        }
        self.group.use_blocks_of(2 * most);
        EXPECT_EQ(self.group.block_bytes(), most);
    });
}

INSTANTIATE_TEST_SUITE_P(OneHostAllreduce, RanksOnAHost, testing::Values(2, 3, 4, 5, 9, 20));

TEST(OneHostAllreduce, TreesOfMoreThanOneLevelSumByGroupsOfRanks) {
    constexpr int ranks = 70;
    Host host(ranks, small_choices());

    host.run([&](HostRank& self) {
        const int rank = self.rank;
        OneHostAllreduce& allreduce = self.allreduce;
        std::int32_t value = rank * rank;
        ASSERT_TRUE(
            allreduce.run({&value, &value, 1, reducer_for(ReduceOp::sum, ElementType::i32), 3})
                .ok());
        EXPECT_EQ(value, 69 * 70 * 139 / 6);
    });
}

TEST(OneHostAllreduce, OddSizedElementsAndMisalignedBuffersAreReduced) {
    constexpr std::size_t count = 3001;
    Host host(3, small_choices());

    host.run([&](HostRank& self) {
        const int rank = self.rank;
        OneHostAllreduce& allreduce = self.allreduce;
        std::vector<std::uint8_t> in(count + 3, static_cast<std::uint8_t>(1 << rank));
        std::vector<std::uint8_t> out(count + 5, 0xee);
        ASSERT_TRUE(allreduce
                        .run({in.data() + 3, out.data() + 5, count,
                              reducer_for(ReduceOp::bor, ElementType::u8), 1})
                        .ok());
        EXPECT_EQ(std::count(out.begin() + 5, out.end(), 7), static_cast<std::ptrdiff_t>(count));
        EXPECT_EQ(out[4], 0xee);
    });
}

TEST(OneHostChoices, BlocksFitIntoTheMemoryThatIsAllowed) {
    for (const int ranks : {2, 4, 64})
        for (const std::size_t limit : {std::size_t{128} << 10, std::size_t{2} << 20}) {
            const OneHostChoices choices = OneHostChoices::fitting(ranks, limit);
            EXPECT_LE(SegmentGroup::bytes_a_rank(ranks, choices.sizes), limit);
            EXPECT_GE(choices.sizes.block_bytes, 4096U);
        }
}

TEST(OneHostChoices, BlocksHaveALineForEveryRankHoweverSmallTheyAreWished) {
    EXPECT_EQ(OneHostChoices::fitting(200, 1).sizes.block_bytes, 16384U);
    const OneHostChoices choices = OneHostChoices::fitting(200, std::size_t{2} << 20);
    EXPECT_EQ(choices.with_blocks_of(200, 1).sizes.block_bytes, 16384U);
    EXPECT_EQ(choices.with_blocks_of(200, SIZE_MAX).sizes.block_bytes, choices.sizes.block_bytes);
}

}  // namespace
}  // namespace gradcoll
