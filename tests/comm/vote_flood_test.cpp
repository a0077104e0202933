// Ranks that tell each other their votes come to one answer, whoever dies in the middle of what.
#include "comm/vote_flood.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "comm/ballots.hpp"

namespace gradcoll {
namespace {

/// A Job has ranks whose messages come in any order between pairs, and in their order within one. A
/// rank that dies does so between any two messages to others; of its messages under way some never
/// come, and who knows of its death hears nothing more of it.
class Job {
  public:
    Job(int ranks, int deaths, std::uint64_t seed) : dice_(seed), deaths_(deaths) {
        for (int rank = 0; rank < ranks; ++rank) ranks_.push_back({VoteFlood(rank, ranks)});
        links_.resize(ranks_.size() * ranks_.size());
    }

    /// Takes steps until no rank that lives can go on.
    void go_on(std::uint64_t questions) {
        const std::size_t most_idle = 60 * ranks_.size() * ranks_.size();
        for (std::size_t idle = 0; idle < most_idle; ++idle) {
            const std::size_t rank = roll(ranks_.size());
            const std::size_t other = roll(ranks_.size());
            if (deaths_ > 0 && ranks_[rank].lives && roll(60) == 0) {
                --deaths_;
                ranks_[rank].lives = false;
            }
            if (ranks_[rank].lives && (vote(rank, questions) || send(rank) || hear(rank, other)))
                idle = 0;
        }
    }

    struct Rank {
        VoteFlood flood;
        bool lives = true;
        bool has_cast = false;
        std::uint64_t question = 0;
        std::deque<std::pair<std::size_t, VoteFlood::Message>> leaving{};
        std::vector<unsigned> votes{}, answers{};
        bool is_over() const { return !answers.empty() && (answers.back() & Vote::goes_on) == 0; }
    };
    const std::vector<Rank>& ranks() const { return ranks_; }

  private:
    std::size_t roll(std::size_t sides) { return dice_() % sides; }
    std::deque<VoteFlood::Message>& link(std::size_t from, std::size_t to) {
        return links_[from * ranks_.size() + to];
    }

    bool vote(std::size_t at, std::uint64_t questions) {
        Rank& rank = ranks_[at];
        if (rank.has_cast) {
            const auto answer = rank.flood.answer();
            if (!answer) return false;
            rank.answers.push_back(*answer);
            rank.has_cast = false;
            ++rank.question;
            return true;
        }
        if (rank.is_over() || rank.question == questions) return false;
        const unsigned votes[] = {Vote::all, Vote::all, Vote::all, Vote::goes_on, Vote::made, 0};
        rank.votes.push_back(votes[roll(8) == 0 ? roll(6) : 0]);
        rank.flood.cast(rank.question, rank.votes.back());
        rank.has_cast = true;
        take(at);
        return true;
    }
    void take(std::size_t at) {
        for (VoteFlood::Message& message : ranks_[at].flood.take_messages())
            for (std::size_t to = 0; to < ranks_.size(); ++to)
                if (to != at) ranks_[at].leaving.emplace_back(to, message);
    }
    bool send(std::size_t at) {
        auto& leaving = ranks_[at].leaving;
        if (leaving.empty()) return false;
        link(at, leaving.front().first).push_back(std::move(leaving.front().second));
        leaving.pop_front();
        return true;
    }
    bool hear(std::size_t at, std::size_t from) {
        auto& coming = link(from, at);
        if (!ranks_[from].lives && from != at && roll(4) == 0) {
            const bool is_new = deaths_known_.insert({at, from}).second;
            ranks_[at].flood.note_death(static_cast<int>(from));
            take(at);
            return is_new;
        }
        if (coming.empty()) return false;
        ranks_[at].flood.take(static_cast<int>(from), coming.front());
        coming.pop_front();
        take(at);
        return true;
    }

    std::mt19937_64 dice_;
    int deaths_;
    std::vector<Rank> ranks_;
    std::vector<std::deque<VoteFlood::Message>> links_;
    std::set<std::pair<std::size_t, std::size_t>> deaths_known_;
};

constexpr std::uint64_t questions = 6;

/// Looks whether all that live have the same answers, that are what votes make of them.
void check(const Job& run, int seed) {
    const Job::Rank* first = nullptr;
    bool all_live = true;
    for (const auto& rank : run.ranks()) {
        all_live = all_live && rank.lives;
        if (!rank.lives) continue;
        if (first == nullptr) first = &rank;
        ASSERT_TRUE(rank.is_over() || rank.answers.size() == questions) << "seed " << seed;
        ASSERT_EQ(rank.answers, first->answers) << "seed " << seed;
    }
    if (first == nullptr) return;
    for (std::size_t i = 0; i < first->answers.size(); ++i) {
        unsigned of_living = Vote::all, of_all = Vote::all;
        for (const auto& rank : run.ranks()) {
            const unsigned vote = i < rank.votes.size() ? rank.votes[i] : Vote::made;
            of_all &= vote;
            if (rank.lives) of_living &= vote;
        }
        EXPECT_EQ(first->answers[i] & ~of_living, 0U) << "seed " << seed;
        if (all_live) {
            EXPECT_EQ(first->answers[i], of_all) << "seed " << seed;
        }
        EXPECT_EQ(of_all & ~first->answers[i] & Vote::made, 0U)
            << "the dead alone keep nothing from being made, seed " << seed;
    }
}

TEST(VoteFlood, AllThatLiveHaveOneAnswer) {
    for (int seed = 0; seed < 20000; ++seed) {
        const int ranks = 2 + seed % 5;
        Job run(ranks, seed / 5 % ranks, static_cast<std::uint64_t>(seed));
        run.go_on(questions);
        check(run, seed);
        if (testing::Test::HasFailure()) return;
    }
}

TEST(VoteFlood, TwoRanksSayOneThingOfAQuestion) {
    for (const unsigned vote : {Vote::all, Vote::goes_on, Vote::made, 0U}) {
        VoteFlood one(0, 2), other(1, 2);
        one.cast(0, vote);
        other.cast(0, Vote::all);
        const auto of_one = one.take_messages(), of_other = other.take_messages();
        ASSERT_EQ(of_one.size(), 1U);
        ASSERT_EQ(of_other.size(), 1U);
        one.take(1, of_other.front());
        other.take(0, of_one.front());
        EXPECT_EQ(one.answer(), vote);
        EXPECT_EQ(other.answer(), vote);
        EXPECT_TRUE(one.take_messages().empty() && other.take_messages().empty());
        EXPECT_TRUE(one.all_have_said_all() && other.all_have_said_all());
    }
}

TEST(VoteFlood, ManyRanksAgree) {
    for (int seed = 0; seed < 3; ++seed) {
        Job run(70, 3 * seed, static_cast<std::uint64_t>(seed));
        run.go_on(2);
        for (const auto& rank : run.ranks())
            EXPECT_TRUE(!rank.lives || rank.is_over() || rank.answers.size() == 2);
    }
}

TEST(VoteFlood, WhatMakesNoSenseIsDropped) {
    VoteFlood flood(0, 2);
    flood.cast(0, Vote::all);
    VoteFlood other(1, 2);
    other.cast(0, Vote::all);
    const auto good = other.take_messages();
    ASSERT_EQ(good.size(), 1U);
    auto vote_of_nothing = good.front();
    vote_of_nothing[1] |= 0xf0;
    for (const auto& bad : {VoteFlood::Message(), VoteFlood::Message(3), vote_of_nothing})
        flood.take(1, bad);
    for (int i = 0; i < 1000; ++i) flood.take(1, VoteFlood::Message(flood.message_words(), 77));
    flood.take(2, good.front());
    flood.take(-1, good.front());
    EXPECT_FALSE(flood.answer());
    flood.note_death(1);
    EXPECT_EQ(flood.answer(), Vote::made);
}

}  // namespace
}  // namespace gradcoll
