// Votes by messages: every rank gets what all votes have in common, and what is said last reaches
// no later communicator.
#include "comm/message_ballots.hpp"

#include <chrono>
#include <random>
#include <thread>

#include "comm/identified_comm.hpp"

namespace gradcoll::test {
namespace {

/// Returns a vote that all ranks know of each other: mostly for all.
unsigned vote_of(int rank, std::uint64_t question) {
    const std::uint64_t dice = (question * 31 + static_cast<std::uint64_t>(rank) * 7) % 23;
    return dice < 2 ? Vote::goes_on : Vote::all;
}

unsigned common_vote(int ranks, std::uint64_t question) {
    unsigned common = Vote::all;
    for (int rank = 0; rank < ranks; ++rank) common &= vote_of(rank, question);
    return common;
}

TEST(MessageBallots, GiveAllRanksWhatVotesHaveInCommon) {
    IdentifiedComm comm;
    const CommIdentity& identity = comm.identity();
    std::mt19937 dice(static_cast<unsigned>(identity.rank()));
    for (int lap = 0; lap < 20; ++lap) {
        MessageBallots ballots(std::move(PrivateComm::make(identity.private_comm())).value(),
                               identity.watch());
        for (std::uint64_t question = 0; question < 50; ++question) {
            if (dice() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
            ballots.cast(question, vote_of(identity.rank(), question));
            std::optional<unsigned> answer;
            while (!(answer = ballots.answer())) ballots.rest();
            ASSERT_EQ(*answer, common_vote(identity.rank_count(), question)) << question;
        }
        ballots.cast(50, 0);
        EXPECT_EQ(ballots.answer(), 0U) << "a vote for nothing waits for nobody";
    }
}

}  // namespace
}  // namespace gradcoll::test
