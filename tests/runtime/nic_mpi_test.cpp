// The executor over NIC agents: the bits of the same plan over MPI messages, and sums that equal
// MPI's.
#include <sys/wait.h>

#include "runtime/mpi_ranks.hpp"
#include "support/exchanges.hpp"
#include "transport/dealt_hosts.hpp"

namespace gradcoll {
namespace {

/// Two hosts, whose tree the plans follow.
std::string tree_of_hosts() {
    const int ranks = size_of_world();
    if (ranks == 1) return "0";
    if (ranks == 2) return "(0 1)";
    return "((0-" + std::to_string(ranks / 2 - 1) + ") (" + std::to_string(ranks / 2) + "-" +
           std::to_string(ranks - 1) + "))";
}

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

TEST_F(NicExecutor, AnyCodecGivesTheBitsOfTheDirectWay) {
    for (const char* codec : {"exact", "2:4", "bf16", "int8", "int8+zstd", "2:4+int8"}) {
        SCOPED_TRACE(codec);
        Scenario shape = scenario(tree_of_hosts(), 300'007, codec_from_name(codec).value());
        expect_same_bits(shape);
        shape.spec.chunk_elems = 1 << 16;
        expect_same_bits(shape);
    }
}

TEST_F(NicExecutor, SumsStayRightWhenAnAgentIsKilledBetweenThem) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    const Scenario shape = scenario(tree_of_hosts(), 200'003, CodecId::int8);
    expect_same_bits(shape);
    Victim(DealtHosts(2), 1).signal(SIGKILL);
    expect_same_bits(shape, 10);
}

/// At a time that nobody chose: whoever kills does so from a second process.
TEST_F(NicExecutor, SumsStayRightWhenAnAgentIsKilledDuringThem) {
    if (size_of_world() == 1) GTEST_SKIP() << "one rank is on one host";
    const DealtHosts dealt(2);
    Scenario shape = scenario(tree_of_hosts(), 400'003);
    shape.spec.chunk_elems = 1 << 16;
    for (const int host : {0, 1, 0, 1}) {
        meet();
        const Victim victim(dealt, host);
        const pid_t killer = victim.is_here() ? fork() : 0;
        if (killer == 0 && victim.is_here()) {
            usleep(20'000);
            victim.signal(SIGKILL);
            _exit(0);
        }
        expect_same_bits(shape, 30);
        if (killer > 0) waitpid(killer, nullptr, 0);
    }
}

}  // namespace
}  // namespace gradcoll
