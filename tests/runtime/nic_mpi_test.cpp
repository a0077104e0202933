// The executor over NIC agents: the bits of the same plan over MPI messages, and sums that equal
// MPI's.
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <random>

#include "runtime/mpi_ranks.hpp"
#include "support/exchanges.hpp"
#include "transport/dealt_hosts.hpp"

namespace gradcoll {
namespace {

/// Returns the tree of two hosts that the plans follow.
std::string tree_of_hosts() {
    const int ranks = size_of_world();
    if (ranks == 1) return "0";
    if (ranks == 2) return "(0 1)";
    return "((0-" + std::to_string(ranks / 2 - 1) + ") (" + std::to_string(ranks / 2) + "-" +
           std::to_string(ranks - 1) + "))";
}

/// Returns elements of either sign and a size from 1/4 to 1, written by their bits.
std::vector<std::uint8_t> elements_of(ElementType type, int rank, std::int64_t count) {
    const std::size_t size = element_bytes(type);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * size);
    std::mt19937_64 random(static_cast<unsigned>(rank) + 5);
    const int mantissa_bits = type == ElementType::f16    ? 10
                              : type == ElementType::bf16 ? 7
                              : type == ElementType::f32  ? 23
                                                          : 52;
    const std::uint64_t half = type == ElementType::f16   ? 14
                               : type == ElementType::f64 ? 1022
                                                          : 126;
    for (std::size_t i = 0; i < bytes.size(); i += size) {
        const std::uint64_t drawn = random();
        const std::uint64_t magnitude =
            ((half - drawn % 2) << mantissa_bits) | (drawn >> (64 - mantissa_bits));
        const std::uint64_t bits = magnitude | (drawn >> 1 & 1) << (8 * size - 1);
        std::memcpy(&bytes[i], &bits, size);
    }
    return bytes;
}

/// AgentsWork is what the agents of both hosts encode and decode from its making on.
class AgentsWork {
  public:
    AgentsWork() : before_(count()) {}
    void expect_encoding_and_decoding() const {
        if (size_of_world() == 1) return;
        const auto now = count();
        EXPECT_GT(now[0], before_[0]);
        EXPECT_EQ(now[0] - before_[0], now[1] - before_[1]);
    }
    void expect_no_encoding() const { EXPECT_EQ(count(), before_); }

  private:
    /// Counts when nothing is under way.
    static std::array<std::uint64_t, 2> count() {
        MPI_Barrier(MPI_COMM_WORLD);
        std::array<std::uint64_t, 2> sums{};
        for (int host = 0; host < std::min(2, size_of_world()); ++host)
            if (const auto status = status_of(host); !status.empty()) {
                sums[0] += status["frames_encoded"].get<std::uint64_t>();
                sums[1] += status["frames_decoded"].get<std::uint64_t>();
            }
        MPI_Barrier(MPI_COMM_WORLD);
        return sums;
    }
    std::array<std::uint64_t, 2> before_;
};

class NicExecutor : public MpiRanks {
  protected:
    void SetUp() override {
        MpiRanks::SetUp();
        MPI_Comm_dup(MPI_COMM_WORLD, &nic_comm_);
        MPI_Comm_set_errhandler(nic_comm_, MPI_ERRORS_RETURN);
        meet();
    }
    void meet() {
        nic_ = nullptr;
        auto channel = channel_between(nic_comm_, DealtHosts(2));
        ASSERT_TRUE(channel.ok()) << channel.status().message();
        nic_ = std::move(channel).value();
    }
    void TearDown() override {
        nic_ = nullptr;
        MPI_Comm_free(&nic_comm_);
        MpiRanks::TearDown();
    }

    void expect_same_bits(const Scenario& shape, int rounds = 2) {
        const auto by_agents = make_executor(shape, *nic_);
        const auto direct = make_executor(shape, *channel_);
        for (int round = 0; round < rounds; ++round) {
            const Outcome outcome = run_once(*by_agents, dense_input, sequence_);
            ASSERT_TRUE(outcome.status.ok()) << outcome.status.message();
            EXPECT_EQ(outcome.output, run_once(*direct, dense_input, sequence_).output);
            ++sequence_;
        }
    }

    MPI_Comm nic_comm_ = MPI_COMM_NULL;
    /// Expects the same for elements of any type.
    void expect_same_bytes(const Scenario& shape) {
        const auto by_agents = make_executor(shape, *nic_);
        const auto direct = make_executor(shape, *channel_);
        EXPECT_EQ(bytes_of_sum(*by_agents), bytes_of_sum(*direct));
        ++sequence_;
    }
    std::vector<std::uint8_t> bytes_of_sum(Executor& executor) const {
        const PlanSpec& spec = executor.plan().spec;
        const auto in = elements_of(spec.type, rank_of_world(), spec.count_elems);
        std::vector<std::uint8_t> out(in.size());
        Binding binding;
        binding.input = in.data();
        binding.output = out.data();
        binding.reducer = reducer_for(ReduceOp::sum, spec.type);
        binding.sequence = sequence_;
        binding.tolerance = 0.05;
        Status status = executor.start(binding);
        if (status.ok()) status = finish(executor);
        EXPECT_TRUE(status.ok()) << status.message();
        return out;
    }

    std::unique_ptr<Channel> nic_;
    std::uint32_t sequence_ = 0;
};

TEST_F(NicExecutor, SumsEqualThoseOfMpi) {
    for (const std::int64_t count : {0, 1, 1000, 100'003, 1'000'003}) {
        const auto executor = make_executor(scenario(tree_of_hosts(), count), *nic_);
        const Outcome outcome = run_once(*executor, sparse_input, sequence_++);
        ASSERT_TRUE(outcome.status.ok()) << outcome.status.message();
        EXPECT_EQ(outcome.output, sum_of_all(sparse_input, size_of_world(), count));
    }
}

/// Returns all codecs and all their forms, with parameters of each kind, and packed.
std::vector<CodecId> codecs_in_all_forms() {
    std::vector<CodecId> codecs(all_codecs().begin(), all_codecs().end());
    for (const char* form :
         {"int8/seed=7", "int4/abs=0.01", "int8/rel=0.01", "int8/abs=call", "int/abs=0.01",
          "int/abs=call", "int16/abs=0.0001", "bound/abs=0.001", "bound/rel=0.01", "int8+zstd",
          "int8/abs=0.01+lz4", "2:4+lz4", "2:4+int8+zstd", "bound/abs=0.001+zstd"})
        codecs.push_back(codec_from_name(form).value());
    return codecs;
}

TEST_F(NicExecutor, AnyCodecGivesTheBitsOfTheDirectWay) {
    const AgentsWork work;
    for (const CodecId codec : codecs_in_all_forms()) {
        SCOPED_TRACE(std::string(name_of(codec)));
        Scenario shape = scenario(tree_of_hosts(), 300'007, codec);
        expect_same_bits(shape);
        shape.spec.chunk_elems = 1 << 16;
        shape.spec.in_place = true;
        expect_same_bits(shape);
    }
    work.expect_encoding_and_decoding();
}

TEST_F(NicExecutor, AnyCodecGivesTheBitsOfTheDirectWayForAnyType) {
    for (const ElementType type :
         {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64})
        for (const CodecId codec : codecs_in_all_forms()) {
            if (!codec_supports(codec, type)) continue;
            SCOPED_TRACE(std::string(name_of(codec)) + " of " + std::string(name_of(type)));
            Scenario shape = scenario(tree_of_hosts(), 100'007, codec);
            shape.spec.type = type;
            shape.spec.elem_bytes = static_cast<std::uint32_t>(element_bytes(type));
            expect_same_bytes(shape);
        }
}

TEST_F(NicExecutor, AnyExchangeGivesTheBitsOfTheDirectWay) {
    for (int exchange = 0; exchange < 3; ++exchange)
        for (const char* codec : {"int8", "bound/abs=0.001", "2:4+zstd"}) {
            SCOPED_TRACE(exchange);
            std::string flat = "(0";
            for (int rank = 1; rank < size_of_world(); ++rank) flat += " " + std::to_string(rank);
            Scenario shape =
                scenario(size_of_world() == 1 ? "0" : flat + ")", 70'001,
                         codec_from_name(codec).value(), static_cast<Exchange>(exchange));
            expect_same_bits(shape);
        }
}

TEST_F(NicExecutor, ChunksThatAreTooShortForAgentsAreSaidOnce) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    constexpr std::size_t short_bytes = 256 << 10;
    nic_ = nullptr;
    nic_ = channel_between(nic_comm_, DealtHosts(2), short_bytes).value();
    const std::size_t long_enough = short_bytes * static_cast<std::size_t>(size_of_world());
    Scenario shape =
        scenario(tree_of_hosts(), static_cast<std::int64_t>(long_enough / 4), CodecId::int8);
    shape.spec.chunk_elems = 1 << 14;
    testing::internal::CaptureStderr();
    for (int round = 0; round < 2; ++round) {
        const auto executor = make_executor(shape, *nic_);
        EXPECT_TRUE(run_once(*executor, dense_input, sequence_++).status.ok());
    }
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string line = "warn: messages do not go by nic: " + std::to_string(long_enough) +
                             " bytes go in chunks of 65536 bytes, whose messages are short; "
                             "GC_CHUNK_BYTES=" +
                             std::to_string(long_enough) + " makes them long enough";
    EXPECT_EQ(said.find(line), said.rfind(line)) << said;
    EXPECT_NE(said.find(line), std::string::npos) << said;
}

/// Returns what all agents have sent since they began.
std::uint64_t bytes_on_the_link() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::uint64_t bytes = 0;
    for (int host = 0; host < std::min(2, size_of_world()); ++host)
        bytes += status_of(host)["bytes_sent"].get<std::uint64_t>();
    MPI_Barrier(MPI_COMM_WORLD);
    return bytes;
}

/// How short agents make elements depends on data, and no rank sees it.
TEST_F(NicExecutor, BytesSentAreThoseThatCrossTheLink) {
    if (size_of_world() != 2) GTEST_SKIP() << "with two ranks all messages leave a host";
    for (const char* codec : {"exact", "int8", "bound/abs=0.01", "bound/abs=0.01+zstd"}) {
        SCOPED_TRACE(codec);
        const auto executor = make_executor(
            scenario(tree_of_hosts(), 300'007, codec_from_name(codec).value()), *nic_);
        const std::uint64_t before = bytes_on_the_link();
        for (int round = 0; round < 3; ++round)
            ASSERT_TRUE(run_once(*executor, dense_input, sequence_++).status.ok());
        std::uint64_t sent = executor->stats().bytes_sent;
        MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        EXPECT_EQ(sent, bytes_on_the_link() - before);
    }
}

/// Returns what all agents have counted under a name.
std::uint64_t counted(const char* name) {
    MPI_Barrier(MPI_COMM_WORLD);
    std::uint64_t sum = 0;
    for (int host = 0; host < std::min(2, size_of_world()); ++host)
        sum += status_of(host)[name].get<std::uint64_t>();
    MPI_Barrier(MPI_COMM_WORLD);
    return sum;
}

/// Owners, too, hand in plain values, and get back what the others get.
TEST_F(NicExecutor, AgentsEncodeAllThatLeavesAHost) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    std::string flat = "(0";
    for (int rank = 1; rank < size_of_world(); ++rank) flat += " " + std::to_string(rank);
    for (const char* name : {"int8", "bound/abs=0.001", "2:4+int8", "int8+zstd"}) {
        SCOPED_TRACE(name);
        const Scenario shape = scenario(flat + ")", 700'001, codec_from_name(name).value());
        const std::uint64_t sent = counted("bytes_sent"), encoded = counted("bytes_encoded"),
                            echoed = counted("frames_echoed");
        expect_same_bits(shape);
        const bool has_echoes = counted("frames_echoed") > echoed;
        EXPECT_TRUE(has_echoes || size_of_world() > 3) << "then each owner has others on its host";
        EXPECT_EQ(counted("bytes_encoded") - encoded, counted("bytes_sent") - sent);
    }
}

/// Residuals need what is encoded: with feedback ranks do it themselves.
TEST_F(NicExecutor, WithFeedbackRanksEncode) {
    const AgentsWork work;
    Scenario shape = scenario(tree_of_hosts(), 50'003, CodecId::int8);
    shape.spec.feedback = true;
    shape.spec.granule_elems = lossy_block_elems;
    expect_same_bits(shape);
    work.expect_no_encoding();
}

/// One rank's input is refused: all end with that, and go on.
TEST_F(NicExecutor, ARankThatFailsTellsTheOthersByAgentsToo) {
    const Scenario shape = scenario(tree_of_hosts(), 200'003, CodecId::int8);
    const auto executor = make_executor(shape, *nic_);
    const Status refusal(Code::invalid_buffer, "said by the test");
    const Floats in = dense_input(rank_of_world(), shape.spec.count_elems);
    Floats out(in.size());
    Floats room(in.size());
    const bool fails = rank_of_world() == 0;
    Binding binding =
        fails ? binding_of(room, room, sequence_++) : binding_of(in, out, sequence_++);
    if (fails) binding.refusal = &refusal;
    Status status = executor->start(binding);
    if (status.ok()) status = finish(*executor);
    EXPECT_EQ(status.code(), fails ? Code::invalid_buffer : Code::peer_failed) << status.message();
    expect_same_bits(shape);
}

TEST_F(NicExecutor, SumsStayRightWhenAnAgentIsKilledBetweenThem) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    const Scenario shape = scenario(tree_of_hosts(), 200'003, CodecId::int8);
    expect_same_bits(shape);
    Victim(DealtHosts(2), 1).signal(SIGKILL);
    expect_same_bits(shape, 10);
}

/// Returns how many agents to kill; GC_TEST_KILLS asks for more than a few by hand.
int kills() {
    const char* const said = std::getenv("GC_TEST_KILLS");
    return said != nullptr ? std::atoi(said) : 4;
}

/// Agents are killed at a time that nobody chose: whoever kills does so from a second process.
TEST_F(NicExecutor, SumsStayRightWhenAnAgentIsKilledDuringThem) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    const DealtHosts dealt(2);
    std::mt19937 random(19);  // the same on all ranks
    const char* const codecs[] = {"exact", "int8", "bound/abs=0.001+zstd", "2:4+int8"};
    for (int round = 0; round < kills(); ++round) {
        const int host = static_cast<int>(random() % 2);
        const auto delay_us = static_cast<unsigned>(random() % 40'000);
        const std::size_t codec = random() % 4;
        SCOPED_TRACE(round);
        Scenario shape = scenario(tree_of_hosts(), 400'003, codec_from_name(codecs[codec]).value());
        shape.spec.chunk_elems = 1 << 16;
        meet();
        const Victim victim(dealt, host);
        const pid_t killer = victim.is_here() ? fork() : 0;
        if (killer == 0 && victim.is_here()) {
            usleep(delay_us);
            victim.signal(SIGKILL);
            _exit(0);
        }
        expect_same_bits(shape, 30);
        if (killer > 0) waitpid(killer, nullptr, 0);
        ASSERT_FALSE(HasFailure());
    }
}

}  // namespace
}  // namespace gradcoll
