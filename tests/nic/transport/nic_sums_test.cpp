// Vectors that the NIC agents of two or three hosts add: the sums that adding piece by piece gives,
// the same bits on all ranks, and what becomes of a vector when agents end in the middle.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "compress/codec.hpp"
#include "compress/frame.hpp"
#include "nic/coded_frame.hpp"
#include "nic/transport/nic_sums.hpp"
#include "reduce/reducer.hpp"
#include "transport/dealt_hosts.hpp"
#include "transport/process_world.hpp"
#include "transport/vector_sums.hpp"

namespace gradcoll {
namespace {

using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;

Floats floats_of(int rank, std::size_t count, unsigned seed = 0) {
    std::mt19937 random(static_cast<unsigned>(rank) * 7919 + seed);
    std::uniform_real_distribution<float> values(-2, 2);
    Floats made(count);
    for (float& each : made) each = values(random);
    return made;
}

/// Computes what the agents are meant to compute, by one process that knows all vectors.
Floats reference(const DealtHosts& dealt, std::size_t count, const Codec* codec, unsigned seed) {
    const std::size_t slot = NicShape::of(static_cast<std::uint32_t>(size_of_world())).slot_bytes;
    SumRequest asked;
    asked.count = count;
    asked.codec = codec;
    const std::size_t piece = NicSums::elems_a_piece(asked, slot);
    FrameCoder coder;
    const auto coded = [&](Floats values) {
        if (codec == nullptr) return values;
        Bytes plain(frame_header_bytes + values.size() * sizeof(float));
        write_plain_header(*codec, values.size(), plain.data());
        std::memcpy(&plain[frame_header_bytes], values.data(), values.size() * sizeof(float));
        const auto there = coder.encode(plain, coding_of(*codec));
        EXPECT_TRUE(there.ok()) << there.status().message();
        const Bytes bytes(there->begin(), there->end());
        EXPECT_TRUE(coder.decode(bytes, plain).ok());
        std::memcpy(values.data(), &plain[frame_header_bytes], values.size() * sizeof(float));
        return values;
    };
    Floats all(count);
    const auto hosts = static_cast<std::size_t>(dealt.hosts);
    std::vector<Floats> inputs;
    for (int rank = 0; rank < size_of_world(); ++rank)
        inputs.push_back(floats_of(rank, count, seed));
    for (std::size_t first = 0, number = 0; first < count; first += piece, ++number) {
        const std::size_t size = std::min(piece, count - first);
        Floats sum;
        for (std::size_t host = 0; host < hosts; ++host) {
            Floats of_host;
            for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
                if (dealt.placement.host_of_rank[rank] != host) continue;
                const float* const in = inputs[rank].data() + first;
                if (of_host.empty())
                    of_host.assign(in, in + size);
                else
                    for (std::size_t i = 0; i < size; ++i) of_host[i] += in[i];
            }
            if (host != number % hosts) of_host = coded(of_host);
            if (sum.empty())
                sum = of_host;
            else
                for (std::size_t i = 0; i < size; ++i) sum[i] += of_host[i];
        }
        const Floats total = coded(sum);
        std::memcpy(all.data() + first, total.data(), size * sizeof(float));
    }
    return all;
}

class NicSumsOfHosts : public testing::TestWithParam<int>, public ProcessComm {
  protected:
    void SetUp() override {
        if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
        meet();
    }
    void meet() {
        channel_ = nullptr;
        auto met = make_nic_channel(comm, dealt_.placement, 1);
        ASSERT_TRUE(met.ok()) << met.status().message();
        channel_ = std::move(met).value();
        sums_ = channel_->vector_sums();
        ASSERT_NE(sums_, nullptr);
    }
    SumRequest request(const Floats& in, Floats& out, const Codec* codec = nullptr) const {
        return {.input = reinterpret_cast<const std::byte*>(in.data()),
                .output = reinterpret_cast<std::byte*>(out.data()),
                .count = in.size(),
                .codec = codec};
    }
    Floats mine(std::size_t count, unsigned seed = 0) const {
        return floats_of(rank_of_world(), count, seed);
    }

    DealtHosts dealt_{GetParam()};
    std::unique_ptr<NicChannel> channel_;
    VectorSums* sums_ = nullptr;
};

TEST_P(NicSumsOfHosts, AreThoseOfPieceByPiece) {
    for (const std::size_t count : {1, 1000, 33'000, 500'000, 1'000'003}) {
        const Floats in = mine(count);
        Floats out(count);
        const auto outcome = sums_->sum(request(in, out));
        ASSERT_TRUE(outcome.ok()) << outcome.status().message();
        EXPECT_EQ(outcome->done, count);
        EXPECT_EQ(out, reference(dealt_, count, nullptr, 0)) << count;
    }
}

TEST_P(NicSumsOfHosts, WithCodecsHaveTheBitsOfPieceByPiece) {
    for (const char* name : {"int8", "2:4", "bound/abs=0.001", "int8+zstd", "2:4+int8", "bf16"}) {
        const Codec codec = codec_for(codec_from_name(name).value(), ElementType::f32).value();
        for (const std::size_t count : {77, 300'007}) {
            const Floats expected = reference(dealt_, count, &codec, 3);
            for (const bool in_place : {true, false}) {
                Floats vector = mine(count, 3), out(count);
                const auto outcome = sums_->sum(request(vector, in_place ? vector : out, &codec));
                ASSERT_TRUE(outcome.ok()) << outcome.status().message();
                EXPECT_EQ(outcome->done, count);
                EXPECT_EQ(in_place ? vector : out, expected) << name << " " << count;
            }
        }
    }
}

/// One rank of each host counts what left it.
TEST_P(NicSumsOfHosts, KnowWhatLeavesAHost) {
    const auto on_the_links = [&] {
        MPI_Barrier(MPI_COMM_WORLD);
        std::uint64_t bytes = 0;
        for (int host = 0; host < dealt_.hosts; ++host)
            bytes += status_of(host)["bytes_sent"].get<std::uint64_t>();
        MPI_Barrier(MPI_COMM_WORLD);
        return bytes;
    };
    const Codec codec = codec_for(CodecId::int8, ElementType::f32).value();
    Floats vector = mine(300'007);
    for (const Codec* each : {&codec, static_cast<const Codec*>(nullptr)}) {
        const std::uint64_t before = on_the_links();
        const auto outcome = sums_->sum(request(vector, vector, each));
        ASSERT_TRUE(outcome.ok()) << outcome.status().message();
        std::uint64_t sent[2] = {outcome->sent_bytes, outcome->sent_exact_bytes};
        MPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        EXPECT_EQ(sent[0], on_the_links() - before);
        const auto hosts = static_cast<std::uint64_t>(dealt_.hosts);
        EXPECT_EQ(sent[1], 2 * (hosts - 1) * vector.size() * sizeof(float)) << "up and down";
    }
}

TEST_P(NicSumsOfHosts, AreOfAnyOpAndType) {
    std::vector<std::int32_t> in(100'000), out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<std::int32_t>((i * 7919 + static_cast<std::size_t>(rank_of_world())) %
                                          1000);
    for (const auto& [op, mpi_op] : {std::pair{ReduceOp::sum, MPI_SUM},
                                     {ReduceOp::max, MPI_MAX},
                                     {ReduceOp::bxor, MPI_BXOR}}) {
        const auto outcome = sums_->sum({.input = reinterpret_cast<const std::byte*>(in.data()),
                                         .output = reinterpret_cast<std::byte*>(out.data()),
                                         .count = in.size(),
                                         .type = ElementType::i32,
                                         .op = op});
        ASSERT_TRUE(outcome.ok() && outcome->done == in.size());
        std::vector<std::int32_t> expected(in.size());
        MPI_Allreduce(in.data(), expected.data(), static_cast<int>(in.size()), MPI_INT32_T, mpi_op,
                      comm);
        EXPECT_EQ(out, expected);
    }
}

TEST_P(NicSumsOfHosts, AllKnowWhoRefuses) {
    const bool refuses = rank_of_world() == size_of_world() - 1;
    const Floats in = mine(200'000);
    Floats out(in.size());
    SumRequest asked = request(in, out);
    if (refuses) asked.refusal = Code::out_of_memory;
    const auto outcome = sums_->sum(asked);
    ASSERT_TRUE(outcome.ok() && outcome->refusal);
    EXPECT_EQ(outcome->refusal->rank, size_of_world() - 1);
    EXPECT_EQ(outcome->refusal->code, Code::out_of_memory);
    EXPECT_EQ(sums_->sum(request(in, out))->done, in.size());
}

/// Whoever adds other things than the others gets nothing added, and keeps nobody waiting.
TEST_P(NicSumsOfHosts, EndIfRanksDiffer) {
    Floats vector = mine(200'000);
    const Floats before = vector;
    SumRequest asked = request(vector, vector);
    if (rank_of_world() == 0) asked.op = ReduceOp::max;
    const auto outcome = sums_->sum(asked);
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_EQ(outcome->done, 0U);
    EXPECT_EQ(vector, before);
    EXPECT_FALSE(sums_->takes(ElementType::f32, 1 << 20));
    meet();
    EXPECT_EQ(sums_->sum(request(before, vector))->done, before.size());
}

/// This holds also where a vector ends with a whole piece, behind which one rank goes on.
TEST_P(NicSumsOfHosts, EndIfRanksDifferInTheCount) {
    const std::size_t piece =
        NicShape::of(static_cast<std::uint32_t>(size_of_world())).slot_bytes / sizeof(float);
    const Floats in = mine(rank_of_world() == 0 ? 2 * piece : piece);
    Floats out(in.size());
    const auto outcome = sums_->sum(request(in, out));
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_EQ(outcome->done, 0U);
}

/// The agent is killed at any moment: what all ranks have is right, and of the rest all have what
/// they came with.
TEST_P(NicSumsOfHosts, AreRightAsFarAsTheyGoWhenAnAgentIsKilled) {
    int cut_short = 0;
    for (unsigned round = 0; round < 6; ++round) {
        const int host = static_cast<int>(round) % dealt_.hosts;
        const Victim victim(dealt_, host);
        const bool in_place = round % 2 == 0;
        const Floats in = mine(1'000'000, round);
        Floats vector = in, out(in.size());
        const Floats expected = reference(dealt_, in.size(), nullptr, round);
        MPI_Barrier(comm);
        std::thread killer([&] {
            if (!victim.is_here()) return;
            std::this_thread::sleep_for(std::chrono::microseconds(600 * round));
            victim.signal(SIGKILL);
        });
        const auto outcome = sums_->sum(in_place ? request(vector, vector) : request(in, out));
        killer.join();
        ASSERT_TRUE(outcome.ok()) << outcome.status().message();
        const std::size_t done = outcome->done;
        const Floats& sum = in_place ? vector : out;
        EXPECT_TRUE(std::equal(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(done),
                               expected.begin()));
        EXPECT_TRUE(!in_place ||
                    std::equal(vector.begin() + static_cast<std::ptrdiff_t>(done), vector.end(),
                               in.begin() + static_cast<std::ptrdiff_t>(done)))
            << done;
        cut_short += done < in.size() ? 1 : 0;
        meet();
    }
    EXPECT_GT(cut_short, 0);
}

INSTANTIATE_TEST_SUITE_P(Hosts, NicSumsOfHosts, testing::Values(2, 3),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace gradcoll
