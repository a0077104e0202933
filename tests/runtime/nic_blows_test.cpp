// Allreduces over NIC agents that something happens to, at a time that nobody chose: an agent is
// killed, stands still, or gets no more memory, a link is cut, or brings what cannot be. Every sum
// is right, and none takes longer than was promised. GC_TEST_BLOWS: how many; scripts/measure
// nic-kills runs many of them.
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "base/descriptor.hpp"
#include "base/figures.hpp"
#include "runtime/mpi_ranks.hpp"
#include "transport/dealt_hosts.hpp"

namespace gradcoll {
namespace {

using Clock = std::chrono::steady_clock;

enum class Blow : std::uint8_t {
    agent_killed,
    agent_stands_still,
    link_cut,
    link_damaged,
    agent_without_memory
};
constexpr std::array names = {"agent killed", "agent stands still", "link cut", "link damaged",
                              "agent without memory"};

bool is_of_links(Blow blow) {
    return blow == Blow::link_cut || blow == Blow::link_damaged;
}

/// Returns the other process's descriptor as one of ours; nothing where the system does not permit
/// that.
Descriptor taken_from(pid_t process, int number) {
    const Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
    return Descriptor(static_cast<int>(syscall(SYS_pidfd_getfd, handle.number(), number, 0)));
}

/// Returns a connection of the agent to another one.
Descriptor link_of(pid_t agent) {
    const std::string folder = fmt::format("/proc/{}/fd", agent);
    std::error_code gone;
    for (const auto& each : std::filesystem::directory_iterator(folder, gone)) {
        Descriptor mine = taken_from(agent, std::stoi(each.path().filename().string()));
        sockaddr_storage other{};
        socklen_t size = sizeof other;
        if (mine.is_open() &&
            getpeername(mine.number(), reinterpret_cast<sockaddr*>(&other), &size) == 0 &&
            other.ss_family == AF_INET)
            return mine;
    }
    return {};
}

/// A Striker strikes by a second process, as whoever ends agents does it.
class Striker {
  public:
    Striker(const DealtHosts& dealt, int host, Blow blow, unsigned delay_us) {
        if (dealt.host() != host || !dealt.is_first()) return;
        const auto agent = status_of(host)["process"].get<pid_t>();
        const Descriptor link = is_of_links(blow) ? link_of(agent) : Descriptor();
        could_not_ = is_of_links(blow) && !link.is_open();
        if (could_not_) return;
        child_ = fork();
        if (child_ != 0) return;
        usleep(delay_us);
        strike(agent, link, blow, delay_us);
        _exit(0);
    }
    ~Striker() {
        if (child_ > 0) waitpid(child_, nullptr, 0);
    }
    Striker(const Striker&) = delete;
    Striker& operator=(const Striker&) = delete;
    bool could_not() const { return could_not_; }

  private:
    static void strike(pid_t agent, const Descriptor& link, Blow blow, unsigned delay_us) {
        const std::array<char, 100> garbage{"no frame"};
        const rlimit nothing{1, 1};
        switch (blow) {
            case Blow::agent_killed:
                kill(agent, SIGKILL);
                break;
            case Blow::agent_stands_still:
                kill(agent, SIGSTOP);
                usleep(10'000 + 5 * delay_us);
                kill(agent, SIGCONT);
                break;
            case Blow::agent_without_memory:
                prlimit(agent, RLIMIT_AS, &nothing, nullptr);
                break;
            case Blow::link_cut:
                shutdown(link.number(), SHUT_RDWR);
                break;
            case Blow::link_damaged:
                send(link.number(), garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
                break;
        }
    }
    pid_t child_ = 0;
    bool could_not_ = false;
};

/// Tally says what became of the sums of one kind of blow.
struct Tally {
    int blows = 0, right = 0, wrong = 0, failed = 0, detoured = 0;
    double longest_s = 0;
};

int blows_wanted() {
    const char* const said = std::getenv("GC_TEST_BLOWS");
    return said != nullptr ? std::atoi(said) : 15;
}

unsigned seed_wanted() {
    const char* const said = std::getenv("GC_TEST_SEED");
    return said != nullptr ? static_cast<unsigned>(std::atoi(said)) : 19;
}

int most_of_all(int mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return mine;
}

class NicBlows : public MpiRanks {
  protected:
    void SetUp() override {
        MpiRanks::SetUp();
        MPI_Comm_dup(MPI_COMM_WORLD, &nic_comm_);
        MPI_Comm_set_errhandler(nic_comm_, MPI_ERRORS_RETURN);
    }
    void TearDown() override {
        MPI_Comm_free(&nic_comm_);
        MpiRanks::TearDown();
    }

    Scenario shape_of(const char* codec, std::int64_t count) const {
        const int ranks = size_of_world();
        const std::string tree =
            fmt::format("((0-{}) ({}-{}))", ranks / 2 - 1, ranks / 2, ranks - 1);
        Scenario shape =
            scenario(ranks == 2 ? "(0 1)" : tree, count, codec_from_name(codec).value());
        shape.spec.chunk_elems = 1 << 16;
        return shape;
    }

    void sum(Executor& executor, const Floats& expected, Tally& tally) {
        const auto begin = Clock::now();
        const Outcome outcome = run_once(executor, dense_input, sequence_++);
        const std::chrono::duration<double> took = Clock::now() - begin;
        tally.longest_s = std::max(tally.longest_s, took.count());
        if (!outcome.status.ok())
            ++tally.failed;
        else
            ++(outcome.output == expected ? tally.right : tally.wrong);
    }

    MPI_Comm nic_comm_ = MPI_COMM_NULL;
    std::uint32_t sequence_ = 0;
};

void print_row(Blow blow, Tally tally) {
    for (int* each : {&tally.right, &tally.wrong, &tally.failed})
        MPI_Allreduce(MPI_IN_PLACE, each, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &tally.longest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank_of_world() == 0)
        fmt::print("| {} | {} | {} | {} | {} | {} | {:.2f} |\n",
                   names[static_cast<std::size_t>(blow)], tally.blows, tally.detoured, tally.right,
                   tally.wrong, tally.failed, tally.longest_s);
}

TEST_F(NicBlows, SumsAreRightWhateverHappensToAgentsAndLinks) {
    const DealtHosts dealt(2);
    std::mt19937 random(seed_wanted());  // the same on all ranks
    const char* const codecs[] = {"exact", "int8", "bound/abs=0.001+zstd", "2:4+int8"};
    std::array<Tally, names.size()> tallies;
    for (int round = 0; round < blows_wanted(); ++round) {
        const auto blow = static_cast<Blow>(round % names.size());
        Tally& tally = tallies[static_cast<std::size_t>(blow)];
        const int host = static_cast<int>(random() % 2);
        const auto delay_us = static_cast<unsigned>(random() % 30'000);
        const Scenario shape =
            shape_of(codecs[random() % 4], 100'000 + static_cast<int>(random() % 300'000));
        SCOPED_TRACE(fmt::format("{}: {}", round, names[static_cast<std::size_t>(blow)]));
        const auto direct = make_executor(shape, *channel_);
        const Floats expected = run_once(*direct, dense_input, sequence_++).output;
        auto nic = channel_between(nic_comm_, dealt);
        ASSERT_TRUE(nic.ok()) << nic.status().message();
        const auto executor = make_executor(shape, **nic);
        const auto detoured = NicCounters::of_process().read().detoured_frames;
        const Striker striker(dealt, host, blow, delay_us);
        if (most_of_all(striker.could_not() ? 1 : 0) != 0) continue;
        ++tally.blows;
        for (const auto end = Clock::now() + std::chrono::microseconds(2 * delay_us + 20'000);
             most_of_all(Clock::now() < end ? 1 : 0) != 0;)
            sum(*executor, expected, tally);
        // It would refuse the next ones, and rightly so.
        if (blow == Blow::agent_without_memory) Victim(dealt, host).signal(SIGKILL);
        tally.detoured +=
            most_of_all(NicCounters::of_process().read().detoured_frames > detoured ? 1 : 0);
    }
    for (std::size_t blow = 0; blow < names.size(); ++blow) {
        SCOPED_TRACE(names[blow]);
        print_row(static_cast<Blow>(blow), tallies[blow]);
        EXPECT_EQ(tallies[blow].wrong, 0);
        EXPECT_EQ(tallies[blow].failed, 0);
        EXPECT_LT(tallies[blow].longest_s, 12) << "who hangs is given up after nic_silence";
    }
    EXPECT_GT(tallies[0].blows, 0);
    EXPECT_GT(tallies[0].right, 0);
}

}  // namespace
}  // namespace gradcoll
