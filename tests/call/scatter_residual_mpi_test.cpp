// GC_Reduce_scatter_block_residual: exact sums, the values that a plain loop keeps and drops, what
// feedback brings, checkpoints, bytes, and mistakes.
#include <algorithm>
#include <numeric>

#include "api/api_support.hpp"

namespace gradcoll::test {
namespace {

constexpr std::size_t block = 4096;

/// ScatterResidual is a residual for blocks of floats.
class ScatterResidual {
  public:
    explicit ScatterResidual(MPI_Comm comm, std::size_t elems = block) {
        EXPECT_EQ(
            GC_Residual_create_for_blocks(comm, static_cast<MPI_Count>(elems), MPI_FLOAT, &handle_),
            MPI_SUCCESS);
    }
    ~ScatterResidual() { GC_Residual_free(&handle_); }
    ScatterResidual(const ScatterResidual&) = delete;
    ScatterResidual& operator=(const ScatterResidual&) = delete;
    operator GC_Residual() const { return handle_; }  // NOLINT: stands for the residual

    std::vector<unsigned char> saved() const {
        std::size_t size = 0;
        EXPECT_EQ(GC_Residual_size(handle_, &size), MPI_SUCCESS);
        std::vector<unsigned char> bytes(size);
        EXPECT_EQ(GC_Residual_save(handle_, bytes.data(), size), MPI_SUCCESS);
        return bytes;
    }
    bool is_zero() const {
        constexpr std::ptrdiff_t header_bytes = 8 * 8, checksum_bytes = 8;
        const std::vector<unsigned char> bytes = saved();
        return std::all_of(bytes.begin() + header_bytes, bytes.end() - checksum_bytes,
                           [](unsigned char byte) { return byte == 0; });
    }

  private:
    GC_Residual handle_ = GC_RESIDUAL_NULL;
};

/// Returns integers, which every order of additions sums to the same. They differ from call to
/// call.
std::vector<float> whole_numbers(int rank, std::size_t count, int call = 0) {
    std::vector<float> values = floats<float>(rank, count, static_cast<std::uint64_t>(call + 1));
    for (float& value : values) value = std::round(1000 * value);
    return values;
}

std::vector<float> scattered(MPI_Comm comm, const std::vector<float>& values, GC_Residual residual,
                             bool in_place = false) {
    const std::size_t elems = values.size() / static_cast<std::size_t>(size_of(comm));
    std::vector<float> out = in_place ? values : std::vector<float>(elems, -1);
    EXPECT_EQ(GC_Reduce_scatter_block_residual(in_place ? MPI_IN_PLACE : values.data(), out.data(),
                                               static_cast<MPI_Count>(elems), MPI_FLOAT, MPI_SUM,
                                               comm, residual),
              MPI_SUCCESS);
    out.resize(elems);
    return out;
}

std::vector<float> exactly_scattered(MPI_Comm comm, const std::vector<float>& values) {
    const std::size_t elems = values.size() / static_cast<std::size_t>(size_of(comm));
    std::vector<float> out(elems);
    MPI_Reduce_scatter_block(values.data(), out.data(), static_cast<int>(elems), MPI_FLOAT, MPI_SUM,
                             comm);
    return out;
}

TEST(ScatterResidual, ExactSumsAreMpisOnEveryTreeAndKeepNothing) {
    const int n = size_of(MPI_COMM_WORLD);
    for (const std::string& tree : trees_for(n))
        for (const std::size_t elems : {std::size_t{0}, std::size_t{1}, std::size_t{511}, block}) {
            SCOPED_TRACE(tree + ", " + std::to_string(elems));
            const OwnComm comm(tree);
            const ScatterResidual residual(comm, elems);
            const auto values = whole_numbers(comm.rank(), elems * static_cast<std::size_t>(n));
            const std::vector<float> expected = exactly_scattered(comm, values);
            EXPECT_EQ(scattered(comm, values, residual), expected);
            EXPECT_EQ(scattered(comm, values, residual, /*in_place=*/true), expected);
            EXPECT_TRUE(residual.is_zero());
        }
}

/// Sends the two largest of four values plus what was dropped before, as a plain loop.
class PlainSender {
  public:
    explicit PlainSender(std::size_t count) : dropped_(count) {}

    std::vector<float> sent(const std::vector<float>& values) {
        std::vector<float> out(values.size());
        for (std::size_t first = 0; first < values.size(); first += 4) {
            std::size_t order[4];
            std::iota(order, order + 4, first);
            for (const std::size_t i : order) dropped_[i] += values[i];
            std::stable_sort(order, order + 4, [&](std::size_t a, std::size_t b) {
                return std::abs(dropped_[a]) > std::abs(dropped_[b]);
            });
            for (const std::size_t i : {order[0], order[1]}) out[i] = std::exchange(dropped_[i], 0);
        }
        return out;
    }

  private:
    std::vector<float> dropped_;
};

TEST(ScatterResidual, AreWhatAPlainLoopSends) {
    const OwnComm comm("flat");
    comm.set("gc_codec", "2:4");
    const auto n = static_cast<std::size_t>(comm.size()),
               me = static_cast<std::size_t>(comm.rank());
    const ScatterResidual residual(comm);
    std::vector<PlainSender> senders(n, PlainSender(block * n));
    for (int call = 0; call < 6; ++call) {
        std::vector<float> expected(block);
        for (std::size_t rank = 0; rank < n; ++rank) {
            const auto values = whole_numbers(static_cast<int>(rank), block * n, call);
            const std::vector<float> sent = senders[rank].sent(values);
            const std::vector<float>& mine = rank == me ? values : sent;  // to itself it sends all
            for (std::size_t i = 0; i < block; ++i) expected[i] += mine[me * block + i];
        }
        const auto values = whole_numbers(comm.rank(), block * n, call);
        EXPECT_EQ(scattered(comm, values, residual, call % 2 == 1), expected) << "call " << call;
    }
    EXPECT_EQ(comm.stats().calls_compressed, n > 1 ? 6U : 0U);
}

/// Returns how far off the mean of many results for one input is.
double mean_error(const OwnComm& comm, const std::vector<float>& values, bool with_feedback) {
    constexpr int calls = 32;
    const ScatterResidual residual(comm);
    const std::vector<float> exact = exactly_scattered(comm, values);
    std::vector<double> total(block);
    for (int call = 0; call < calls; ++call) {
        std::vector<float> got(block);
        if (with_feedback)
            got = scattered(comm, values, residual);
        else
            EXPECT_EQ(GC_Reduce_scatter_block(values.data(), got.data(), static_cast<int>(block),
                                              MPI_FLOAT, MPI_SUM, comm),
                      MPI_SUCCESS);
        for (std::size_t i = 0; i < block; ++i) total[i] += static_cast<double>(got[i]);
    }
    double error = 0;
    for (std::size_t i = 0; i < block; ++i)
        error += std::abs(total[i] / calls - static_cast<double>(exact[i]));
    return error / static_cast<double>(block);
}

TEST(ScatterResidual, WhatIsDroppedComesLater) {
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nothing is sent";
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD)))
        for (const char* codec : {"2:4", "1:4", "int4"}) {
            SCOPED_TRACE(tree + ", " + codec);
            const OwnComm comm(tree);
            comm.set("gc_codec", codec);
            const auto values =
                floats<float>(comm.rank(), block * static_cast<std::size_t>(comm.size()));
            const double with = mean_error(comm, values, true);
            const double without = mean_error(comm, values, false);
            EXPECT_LT(with, 0.35 * without) << without;
        }
}

TEST(ScatterResidual, ACheckpointGoesOnBitForBit) {
    for (const std::string& tree : trees_for(size_of(MPI_COMM_WORLD))) {
        SCOPED_TRACE(tree);
        const OwnComm comm(tree);
        comm.set("gc_codec", "int8");
        const auto values =
            floats<float>(comm.rank(), block * static_cast<std::size_t>(comm.size()));
        const ScatterResidual residual(comm), restored(comm);
        const std::vector<float> first = scattered(comm, values, residual);
        const std::vector<unsigned char> bytes = residual.saved();
        const std::vector<float> second = scattered(comm, values, residual);
        ASSERT_EQ(GC_Residual_load(restored, bytes.data(), bytes.size()), MPI_SUCCESS);
        EXPECT_EQ(scattered(comm, values, restored), second);
        ASSERT_EQ(GC_Residual_reset(restored), MPI_SUCCESS);
        EXPECT_EQ(scattered(comm, values, restored), first);
    }
}

/// What the codec kept back of whole numbers is whole numbers, too.
TEST(ScatterResidual, WhatIsHandedOverIsWhatTheSumsLack) {
    const int n = size_of(MPI_COMM_WORLD);
    for (const std::string& tree : trees_for(n))
        for (const std::size_t elems : {std::size_t{3000}, block}) {
            SCOPED_TRACE(tree + ", " + std::to_string(elems));
            const OwnComm comm(tree);
            comm.set("gc_codec", "2:4");
            comm.set("gc_chunk_bytes", "4K");
            const ScatterResidual residual(comm, elems);
            const auto values = whole_numbers(comm.rank(), elems * static_cast<std::size_t>(n));
            std::vector<float> sums = scattered(comm, values, residual);
            const std::vector<float> expected = exactly_scattered(comm, values);
            EXPECT_EQ(sums == expected, n == 1);
            std::vector<float> kept(values.size());
            ASSERT_EQ(GC_Residual_hand_over(residual, kept.data()), MPI_SUCCESS);
            EXPECT_TRUE(residual.is_zero());
            const std::vector<float> lacking = exactly_scattered(comm, kept);
            for (std::size_t i = 0; i < elems; ++i) sums[i] += lacking[i];
            EXPECT_EQ(sums, expected);
        }
}

TEST(ScatterResidual, SendsHalfOfWhatAnAllreduceSends) {
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nothing is sent";
    const OwnComm comm("flat");
    comm.set("gc_codec", "int8");
    const std::size_t count = 16 * block * static_cast<std::size_t>(comm.size());
    const auto values = floats<float>(comm.rank(), count);
    const ScatterResidual residual(comm, 16 * block);
    (void)scattered(comm, values, residual);
    const GC_Stats scatter = comm.stats();
    EXPECT_NEAR(
        static_cast<double>(scatter.bytes_sent_exact) / static_cast<double>(scatter.bytes_sent), 4,
        0.2);
    GC_Comm_reset_stats(comm);
    GC_Residual whole = GC_RESIDUAL_NULL;
    ASSERT_EQ(GC_Residual_create(comm, static_cast<MPI_Count>(count), MPI_FLOAT, &whole),
              MPI_SUCCESS);
    std::vector<float> sums(count);
    EXPECT_EQ(GC_Allreduce_residual(values.data(), sums.data(), static_cast<MPI_Count>(count),
                                    MPI_FLOAT, MPI_SUM, comm, whole),
              MPI_SUCCESS);
    EXPECT_NEAR(
        static_cast<double>(comm.stats().bytes_sent) / static_cast<double>(scatter.bytes_sent), 2,
        0.1);
    GC_Residual_free(&whole);
}

TEST(ScatterResidual, MistakesAreErrorsOnEveryRank) {
    const OwnComm comm("flat");
    const auto n = static_cast<std::size_t>(comm.size());
    std::vector<float> in(block * n), out(block);
    const auto code = [&](MPI_Count count, MPI_Datatype type, MPI_Op op, GC_Residual residual) {
        return class_of(GC_Reduce_scatter_block_residual(in.data(), out.data(), count, type, op,
                                                         comm, residual));
    };
    const ScatterResidual residual(comm);
    EXPECT_EQ(code(block, MPI_FLOAT, MPI_SUM, GC_RESIDUAL_NULL), MPI_ERR_ARG);
    EXPECT_EQ(code(block, MPI_FLOAT, MPI_MAX, residual), MPI_ERR_OP);
    EXPECT_EQ(code(block, MPI_INT, MPI_SUM, residual), MPI_ERR_TYPE);
    EXPECT_EQ(code(-1, MPI_FLOAT, MPI_SUM, residual), MPI_ERR_COUNT);
    GC_Residual bad = GC_RESIDUAL_NULL;
    EXPECT_EQ(class_of(GC_Residual_create_for_blocks(comm, -1, MPI_FLOAT, &bad)), MPI_ERR_COUNT);
    EXPECT_EQ(class_of(GC_Residual_create_for_blocks(comm, block, MPI_INT, &bad)), MPI_ERR_TYPE);
    const OwnComm other("flat");
    const ScatterResidual elsewhere(other);
    EXPECT_EQ(code(block, MPI_FLOAT, MPI_SUM, elsewhere), MPI_ERR_ARG);
    if (n == 1) return;  // nothing is planned, so that a residual has no layout
    EXPECT_EQ(code((MPI_Count{1} << 56) + 1, MPI_FLOAT, MPI_SUM, residual), MPI_ERR_COUNT);
    EXPECT_EQ(code(block / 2, MPI_FLOAT, MPI_SUM, residual), MPI_ERR_ARG);
    GC_Residual whole = GC_RESIDUAL_NULL;
    ASSERT_EQ(GC_Residual_create(comm, static_cast<MPI_Count>(block * n), MPI_FLOAT, &whole),
              MPI_SUCCESS);
    EXPECT_EQ(code(block, MPI_FLOAT, MPI_SUM, whole), MPI_ERR_ARG);
    GC_Residual_free(&whole);
}

}  // namespace
}  // namespace gradcoll::test
