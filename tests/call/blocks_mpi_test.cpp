// Reduce-scatters and allgathers in chunks, of blocks that are no multiples of a codec's, on random
// trees: the results are those of the MPI library, or within what the codec says.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

/// Returns whole numbers, which all orders of additions give one sum.
std::vector<float> numbers(std::mt19937_64& random, std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values)
        value = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
    return values;
}

/// Returns a tree of two levels, with ranks in any order.
std::string random_tree(std::mt19937_64& random, int ranks) {
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::string tree = "(";
    for (int first = 0; first < ranks;) {
        const int branch = 1 + static_cast<int>(random() % 3);
        tree += tree.size() > 1 ? " (" : "(";
        for (int leaf = first; leaf < std::min(first + branch, ranks); ++leaf)
            tree +=
                (leaf > first ? " " : "") + std::to_string(order[static_cast<std::size_t>(leaf)]);
        tree += ")";
        first += branch;
    }
    return tree + ")";
}

class Blocks : public testing::TestWithParam<const char*> {
  protected:
    /// Returns how far off an element may be, where each of `ranks` contributions and sums of them
    /// are encoded once or twice.
    static float slack(int ranks) {
        const std::string codec = GetParam();
        return codec == "exact" ? 0 : 4 * static_cast<float>(ranks * ranks) * 1000 / 128;
    }
    static void expect_near(const std::vector<float>& got, const std::vector<float>& wanted,
                            float slack) {
        float worst = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            worst = std::max(worst, std::fabs(got[i] - wanted[i]));
        ASSERT_LE(worst, slack);
    }
};

TEST_P(Blocks, AreThoseOfMpi) {
    const int ranks = size_of(MPI_COMM_WORLD);
    const int rank = rank_of(MPI_COMM_WORLD);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const OwnComm comm(random_tree(random, ranks));
        const char* const chunks[] = {"0", "auto", "1K", "10K", "100K"};
        comm.set("gc_chunk_bytes", chunks[random() % 5]);
        comm.set("gc_compress_if", "always");
        comm.set("gc_codec", GetParam());
        const auto block = static_cast<std::size_t>(1 + random() % (seed % 4 == 0 ? 20000 : 3000));
        const bool in_place = random() % 2 == 0;
        const std::size_t count = block * static_cast<std::size_t>(ranks);
        std::mt19937_64 own(seed * 100 + static_cast<std::uint64_t>(rank));
        const std::vector<float> values = numbers(own, count);
        const auto elems = static_cast<int>(block);

        std::vector<float> wanted(block);
        PMPI_Reduce_scatter_block(values.data(), wanted.data(), elems, MPI_FLOAT, MPI_SUM, comm);
        std::vector<float> sums = in_place ? values : std::vector<float>(block, 0.5F);
        ASSERT_EQ(GC_Reduce_scatter_block(in_place ? MPI_IN_PLACE : values.data(), sums.data(),
                                          elems, MPI_FLOAT, MPI_SUM, comm),
                  MPI_SUCCESS);
        expect_near(sums, wanted, slack(ranks));

        std::vector<float> all(count);
        PMPI_Allgather(values.data(), elems, MPI_FLOAT, all.data(), elems, MPI_FLOAT, comm);
        std::vector<float> gathered(count, 0.5F);
        float* const mine = gathered.data() + block * static_cast<std::size_t>(rank);
        if (in_place) std::copy_n(values.begin(), block, mine);
        ASSERT_EQ(GC_Allgather(in_place ? MPI_IN_PLACE : values.data(), elems, MPI_FLOAT,
                               gathered.data(), elems, MPI_FLOAT, comm),
                  MPI_SUCCESS);
        expect_near(gathered, all, slack(1));
        std::vector<float> of_rank_0 = gathered;
        MPI_Bcast(of_rank_0.data(), elems * ranks, MPI_FLOAT, 0, comm);
        ASSERT_EQ(of_rank_0, gathered);
    }
}

INSTANTIATE_TEST_SUITE_P(Codecs, Blocks, testing::Values("exact", "bf16", "int8", "bound/abs=0.5"));

}  // namespace
}  // namespace gradcoll::test
