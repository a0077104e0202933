// tests/mover/held_memory_test.cpp - the tree of held bytes gives the same answers as plain sums.
#include "mover/plan/held_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "mover/random_steps.hpp"

namespace gradcoll::mover {
namespace {

TEST(HeldMemory, AnswersAsPlainSumsDo) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Chance chance(seed);
        std::vector<std::int64_t> plain(static_cast<std::size_t>(from_to(chance, 1, 40)));
        for (std::int64_t& bytes : plain) bytes = from_to(chance, -5, 50);
        HeldMemory held(plain);
        for (int n = 0; n < 50; ++n) {
            const auto last = static_cast<std::int64_t>(plain.size());
            const auto from = static_cast<std::size_t>(from_to(chance, 0, last));
            const auto end = static_cast<std::size_t>(from_to(chance, 0, last));
            const std::int64_t bytes = from_to(chance, -50, 50);
            held.add(from, end, bytes);
            for (std::size_t op = from; op < end; ++op) plain[op] += bytes;
            for (std::size_t op = 0; op < plain.size(); ++op) ASSERT_EQ(plain[op], held.at(op));
            if (from < end) {
                ASSERT_EQ(*std::max_element(plain.begin() + static_cast<std::ptrdiff_t>(from),
                                            plain.begin() + static_cast<std::ptrdiff_t>(end)),
                          held.most(from, end))
                    << seed;
            }
            ASSERT_EQ(*std::max_element(plain.begin(), plain.end()), held.most(0, plain.size()));
            ASSERT_EQ(std::max_element(plain.begin(), plain.end()) - plain.begin(),
                      static_cast<std::ptrdiff_t>(held.first_of_most()));
            std::size_t first = end;
            while (first > from && plain[first - 1] <= bytes) --first;
            ASSERT_EQ(std::max(first, from), held.at_most_from(from, end, bytes)) << seed;
        }
    }
}

TEST(HeldMemory, NothingIsHeldByNobody) {
    EXPECT_EQ(0, HeldMemory({}).most(0, 0));
    EXPECT_EQ(7, HeldMemory({7}).most(0, 1));
}

}  // namespace
}  // namespace gradcoll::mover
