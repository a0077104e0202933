// Processes that share memory vote on one question after the other, and some are killed: whoever
// has an answer has the same as the others, also who dies later.
#include "comm/host_ballots.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <vector>

#include "base/clock.hpp"
#include "base/watched_process.hpp"

namespace gradcoll {
namespace {

constexpr int most_ranks = 5;
constexpr int questions = 3000;
constexpr std::uint64_t bound_ns = 10'000'000'000;

/// Shared is what the processes of one round share.
struct Shared {
    std::array<HostBallots::Part, most_ranks> parts;
    std::array<ProcessName, most_ranks> names;
    std::atomic<int> here;
    std::atomic<int> begun;
    std::array<std::atomic<bool>, most_ranks> ended;
    /// These are the answers and 1; 0: there is none.
    std::array<std::array<std::atomic<std::uint8_t>, questions>, most_ranks> answers;
};

/// A ProcessWatch looks at the processes of all ranks.
class ProcessWatch final : public PeerWatch {
  public:
    ProcessWatch(const Shared& shared, int rank, int rank_count) : PeerWatch(1'000'000) {
        for (int peer = 0; peer < rank_count; ++peer) {
            if (peer != rank)
                processes_.push_back(WatchedProcess::of(shared.names[std::size_t(peer)]));
            else
                processes_.push_back(nullptr);
        }
    }
    bool has_died(int rank) override {
        const auto& process = processes_[static_cast<std::size_t>(rank)];
        if (process == nullptr) return false;
        pollfd look{process->descriptor(), POLLIN, 0};
        return poll(&look, 1, 0) == 1;
    }
    void look() override {
        for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank)
            if (has_died(rank)) note(rank, "a rank has died");
    }

  private:
    std::vector<std::shared_ptr<const WatchedProcess>> processes_;
};

/// Votes as a rank until a death is known, or all questions have been answered.
void vote(Shared& shared, int rank, int rank_count, unsigned seed) {
    std::mt19937 chance(seed);
    shared.names[static_cast<std::size_t>(rank)] = this_process_name();
    ++shared.here;
    while (shared.here < rank_count) usleep(100);
    auto watch = std::make_shared<ProcessWatch>(shared, rank, rank_count);
    ++shared.begun;
    HostBallots ballots(reinterpret_cast<std::byte*>(shared.parts.data()),
                        sizeof(HostBallots::Part), rank, rank_count, watch,
                        Waiter(with_shared_core, nullptr, nullptr));
    for (int question = 0; question < questions; ++question) {
        const bool has_result = chance() % 20 != 0;
        ballots.cast(static_cast<std::uint64_t>(question),
                     (has_result ? Vote::made : 0) | (watch->has_fault() ? 0 : Vote::goes_on));
        std::optional<unsigned> answer;
        while (!(answer = ballots.answer())) ballots.rest();
        shared.answers[std::size_t(rank)][std::size_t(question)] =
            static_cast<std::uint8_t>(*answer + 1);
        if ((*answer & Vote::goes_on) == 0) break;
    }
    shared.ended[static_cast<std::size_t>(rank)] = true;
    for (;;) pause();
}

/// What has become of a round.
struct Round {
    bool all_ended = true;  ///< whether each survivor came to the end
    int answered = 0;       ///< questions with an answer
    int differing = 0;      ///< questions with two
};

Round play(int rank_count, int deaths, unsigned seed) {
    std::mt19937 chance(seed);
    auto* const shared = static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    std::vector<pid_t> processes;
    for (int rank = 0; rank < rank_count; ++rank) {
        const pid_t process = fork();
        if (process == 0) vote(*shared, rank, rank_count, static_cast<unsigned>(chance()));
        processes.push_back(process);
        (void)chance();
    }
    while (shared->begun < rank_count) usleep(100);
    std::vector<bool> killed(processes.size());
    for (int death = 0; death < deaths; ++death) {
        usleep(static_cast<useconds_t>(chance() % 3000));
        const std::size_t victim = chance() % processes.size();
        kill(processes[victim], SIGKILL);
        killed[victim] = true;
    }
    Round round;
    const std::uint64_t end_ns = now_ns() + bound_ns;
    for (std::size_t rank = 0; rank < processes.size(); ++rank) {
        while (!killed[rank] && !shared->ended[rank] && now_ns() < end_ns) usleep(1000);
        round.all_ended = round.all_ended && (killed[rank] || shared->ended[rank]);
    }
    for (const pid_t process : processes) {
        kill(process, SIGKILL);
        waitpid(process, nullptr, 0);
    }
    for (std::size_t question = 0; question < questions; ++question) {
        std::uint8_t first = 0;
        for (std::size_t rank = 0; rank < processes.size(); ++rank) {
            const std::uint8_t answer = shared->answers[rank][question];
            if (first == 0) first = answer;
            round.differing += answer != 0 && answer != first ? 1 : 0;
        }
        round.answered += first != 0 ? 1 : 0;
    }
    munmap(shared, sizeof(Shared));
    return round;
}

TEST(HostBallots, AllHaveTheSameAnswersWhoeverIsKilled) {
    int answered = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        const int rank_count = 2 + static_cast<int>(seed % (most_ranks - 1));
        const int deaths = 1 + static_cast<int>(seed / 2 % 2);
        const Round round = play(rank_count, std::min(deaths, rank_count - 1), seed);
        EXPECT_TRUE(round.all_ended) << "seed " << seed;
        EXPECT_EQ(round.differing, 0) << "seed " << seed;
        answered += round.answered;
    }
    EXPECT_GT(answered, 60);
}

TEST(HostBallots, AllQuestionsAreAnsweredWhileNobodyDies) {
    const Round round = play(3, 0, 1);
    EXPECT_TRUE(round.all_ended);
    EXPECT_EQ(round.differing, 0);
    EXPECT_EQ(round.answered, questions);
}

}  // namespace
}  // namespace gradcoll
