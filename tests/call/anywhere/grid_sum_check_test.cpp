// Checked sums on a grid: the sums of check words are the check words of the sum, and a flip
// anywhere in words, tops or check words is found, with the elements.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "call/anywhere/grid_sum.hpp"

namespace gradcoll {
namespace {

/// Returns how many flips are made; more if the environment says so.
int flips_wanted(int usual) {
    const char* const wanted = std::getenv("GC_TEST_FLIPS");
    return wanted != nullptr ? std::atoi(wanted) : usual;
}

/// A Rank has a part in a sum, whose steps the test makes.
struct Rank {
    std::vector<std::byte> input, output;
    GridSum sum;
    IntegerStep words;
};

std::span<std::int64_t> words_of(const Rank& rank) {
    return {static_cast<std::int64_t*>(rank.words.data),
            static_cast<std::size_t>(rank.words.count)};
}

std::span<std::uint16_t> tops_of(Rank& rank) {
    const IntegerStep tops = rank.sum.tops();
    return {static_cast<std::uint16_t*>(tops.data), static_cast<std::size_t>(tops.count)};
}

/// Job is what ranks sum together: numbers of very different magnitudes, some Inf.
class Job {
  public:
    Job(ElementType type, std::size_t count, int ranks, std::mt19937_64& random) : type_(type) {
        ranks_.resize(static_cast<std::size_t>(ranks));
        for (Rank& rank : ranks_) {
            rank.input.resize(count * element_bytes(type));
            rank.output.resize(rank.input.size());
            // Halves of 16 bits are numbers of all four types, and not NaN.
            for (std::size_t i = 0; i + 1 < rank.input.size(); i += 2) {
                const auto bits = static_cast<std::uint16_t>(random());
                rank.input[i] = static_cast<std::byte>(bits & 0xffU);
                rank.input[i + 1] = static_cast<std::byte>(bits >> 8 & 0xbfU);
            }
            Binding binding;
            binding.input = rank.input.data();
            binding.output = rank.output.data();
            CallShape shape;
            shape.type = type;
            shape.elem_bytes = element_bytes(type);
            shape.count = static_cast<std::int64_t>(count);
            rank.sum = GridSum::make(shape, binding, *pool_, ranks).value();
        }
    }

    std::vector<Rank>& ranks() { return ranks_; }
    ElementType type() const { return type_; }
    void agree_on_tops() {
        for (std::size_t i = 0; i < tops_of(ranks_[0]).size(); ++i) {
            std::uint16_t most = 0;
            for (Rank& rank : ranks_) most = std::max(most, tops_of(rank)[i]);
            for (Rank& rank : ranks_) tops_of(rank)[i] = most;
        }
        for (Rank& rank : ranks_) (void)rank.sum.specials(GridSum::SpecialsLie::in_place);
    }
    /// The words are filled in pieces of 8192, as hosts do it.
    void fill() {
        for (Rank& rank : ranks_) {
            rank.words = rank.sum.words();
            const auto count = static_cast<std::size_t>(rank.words.count);
            for (std::size_t first = 0; first < count; first += 8192)
                rank.sum.fill(first, std::min<std::size_t>(8192, count - first));
        }
    }
    void add() {
        for (std::size_t i = 0; i < words_of(ranks_[0]).size(); ++i) {
            std::uint64_t sum = 0;
            for (const Rank& rank : ranks_) sum += static_cast<std::uint64_t>(words_of(rank)[i]);
            for (const Rank& rank : ranks_) words_of(rank)[i] = static_cast<std::int64_t>(sum);
        }
    }

  private:
    ElementType type_;
    std::unique_ptr<ScratchPool> pool_ = std::make_unique<ScratchPool>();
    std::vector<Rank> ranks_;
};

Job summed(ElementType type, std::size_t count, int ranks, std::mt19937_64& random) {
    Job job(type, count, ranks, random);
    job.agree_on_tops();
    job.fill();
    job.add();
    return job;
}

constexpr ElementType types[] = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                 ElementType::f64};
constexpr std::size_t lengths[] = {1, 255, 256, 700, 1024, 1025, 5000, 9000, 33'000};

TEST(GridSumCheck, RightSumsHaveTheCheckWordsOfTheirContributions) {
    std::mt19937_64 random(1);
    for (const ElementType type : types)
        for (const std::size_t count : lengths)
            for (const int ranks : {1, 2, 5}) {
                Job job = summed(type, count, ranks, random);
                for (const Rank& rank : job.ranks()) {
                    const Status found = rank.sum.check();
                    ASSERT_TRUE(found.ok())
                        << name_of(type) << ", " << count << ": " << found.message();
                }
            }
}

/// Returns the elements of the checked block that a word belongs to; check words follow the others.
std::string elements_of(ElementType type, std::size_t word, std::size_t data_words) {
    const std::size_t block = word < data_words ? word / grid_check_words : (word - data_words) / 2;
    const std::size_t end = std::min(data_words, (block + 1) * grid_check_words);
    return "elements " + std::to_string(block * grid_check_words / grid_words(type)) + " to " +
           std::to_string(end / grid_words(type) - 1) + " of this sum";
}

TEST(GridSumCheck, EveryFlipInASumIsFoundWithItsElements) {
    std::mt19937_64 random(2);
    int flips = 0, found = 0, placed = 0;
    for (const int wanted = flips_wanted(40'000); flips < wanted;)
        for (const ElementType type : types) {
            const std::size_t count = 1 + random() % 6000;
            Job job = summed(type, count, 3, random);
            const auto words = words_of(job.ranks()[1]);
            for (int i = 0; i < 500; ++i) {
                const std::size_t at = random() % words.size();
                const auto bits = static_cast<std::int64_t>(
                    random() % 4 == 0 ? random() | 1 : std::uint64_t{1} << random() % 64);
                words[at] ^= bits;
                const Status status = job.ranks()[1].sum.check();
                words[at] ^= bits;
                ++flips;
                found += status.ok() ? 0 : 1;
                placed +=
                    status.message().starts_with(elements_of(type, at, count * grid_words(type)))
                        ? 1
                        : 0;
            }
        }
    EXPECT_EQ(found, flips);
    EXPECT_EQ(placed, flips);
    std::printf("%d flips in words of sums: %d found, %d with their elements\n", flips, found,
                placed);
}

TEST(GridSumCheck, WhoHasOtherTopsThanTheOthersIsFoundByAll) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 200; ++round) {
        Job job(types[round % 4], 3000, 3, random);
        job.agree_on_tops();
        const auto tops = tops_of(job.ranks()[static_cast<std::size_t>(round % 3)]);
        tops[2 * (random() % (tops.size() / 2))] ^= static_cast<std::uint16_t>(1U << random() % 4);
        job.fill();
        job.add();
        for (const Rank& rank : job.ranks()) EXPECT_FALSE(rank.sum.check().ok()) << round;
    }
}

/// A rank that its host's leader gives the result has no sums to compare.
TEST(GridSumCheck, OnlyWhoHasTheSumsCompares) {
    std::mt19937_64 random(4);
    Job job = summed(ElementType::f32, 3000, 2, random);
    words_of(job.ranks()[0])[5] ^= 1;
    EXPECT_FALSE(job.ranks()[0].sum.check().ok());
    (void)job.ranks()[0].sum.result(0, words_of(job.ranks()[0]).size());
    EXPECT_TRUE(job.ranks()[0].sum.check().ok());
    job.ranks()[0].sum.round(0, words_of(job.ranks()[0]).size());
    EXPECT_FALSE(job.ranks()[0].sum.check().ok());
}

}  // namespace
}  // namespace gradcoll
