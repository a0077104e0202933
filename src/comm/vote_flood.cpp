#include "comm/vote_flood.hpp"

#include <algorithm>
#include <utility>

#include "comm/ballots.hpp"

namespace gradcoll {
namespace {

/// A rank that keeps to the rules is a round or a question ahead of another, no more.
constexpr std::size_t most_waiting = 16;
constexpr std::uint64_t most_questions = std::uint64_t{1} << 62;

}  // namespace

VoteFlood::VoteFlood(int rank, int rank_count)
    : peers_(static_cast<std::size_t>(rank_count)),
      rank_(static_cast<std::size_t>(rank)),
      dead_(sets_words()),
      known_(sets_words()),
      told_dead_(sets_words()),
      told_known_(sets_words()) {}

void VoteFlood::add(Set& set, const Set& others) {
    for (std::size_t i = 0; i < set.size(); ++i) set[i] |= others[i];
}

bool VoteFlood::knows_all() const {
    for (std::size_t rank = 0; rank < peers_.size(); ++rank)
        if (!has(known_, rank)) return false;
    return true;
}

/// Puts a message for all; it has what this rank knows now.
void VoteFlood::say(std::uint32_t round, unsigned common) {
    Message message = {*question_, std::uint64_t{round} << 32 | common};
    message.insert(message.end(), dead_.begin(), dead_.end());
    message.insert(message.end(), known_.begin(), known_.end());
    to_send_.push_back(std::move(message));
}

std::vector<VoteFlood::Message> VoteFlood::take_messages() {
    return std::exchange(to_send_, {});
}

/// Nobody dies but those that are known to be dead, so a vote for nothing is the answer at once: it
/// is part of any.
void VoteFlood::cast(std::uint64_t question, unsigned vote) {
    question_ = question;
    answer_.reset();
    common_ = vote & Vote::all;
    std::fill(known_.begin(), known_.end(), 0);
    add(known_, rank_);
    round_ = 0;
    if (common_ == 0) return decide(0);
    all_say_the_same_ = true;
    end_round();
    hear();
}

void VoteFlood::decide(unsigned answer) {
    answer_ = answer;
    if (round_ == 0 || !says_one_thing()) say(0, answer);
}

/// Begins the next round, unless there is an answer.
void VoteFlood::end_round() {
    const bool is_settled = round_ > 0 && all_say_the_same_ && dead_ == told_dead_;
    if (knows_all()) return decide(common_);
    if (is_settled) return decide(common_ & ~Vote::goes_on);
    told_dead_ = dead_;
    told_known_ = known_;
    all_say_the_same_ = true;
    for (Peer& peer : peers_) peer.is_heard = false;
    say(++round_, common_);
}

std::optional<VoteFlood::Said> VoteFlood::understood(std::span<const std::uint64_t> message) const {
    if (message.size() != message_words()) return {};
    Said said{message[0],
              static_cast<std::uint32_t>(message[1] >> 32),
              static_cast<unsigned>(message[1] & 0xffffffffU),
              {},
              {}};
    if ((said.common & ~Vote::all) != 0) return {};
    const auto sets = message.subspan(2);
    const auto middle = sets.begin() + static_cast<std::ptrdiff_t>(sets_words());
    said.dead.assign(sets.begin(), middle);
    said.known.assign(middle, sets.end());
    return said;
}

void VoteFlood::take(int from, std::span<const std::uint64_t> message) {
    const auto rank = static_cast<std::size_t>(from);
    if (rank >= peers_.size() || rank == rank_ || has(dead_, rank)) return;
    auto said = understood(message);
    if (said && (said->round == 0 || says_one_thing()) && said->question < most_questions)
        peers_[rank].over = said->question + 1;
    const bool is_over = answer_ && said && said->question <= *question_;
    if (!said || is_over || peers_[rank].said.size() >= most_waiting) return;
    peers_[rank].said.push_back(*std::move(said));
    hear();
}

bool VoteFlood::all_have_said_all() const {
    for (std::size_t rank = 0; question_ && rank < peers_.size(); ++rank)
        if (rank != rank_ && !has(dead_, rank) && peers_[rank].over <= *question_) return false;
    return true;
}

void VoteFlood::note_death(int rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (at >= peers_.size() || has(dead_, at)) return;
    add(dead_, at);
    peers_[at].said.clear();
    hear();
}

/// Hears what has come, and goes on to as many rounds as that allows.
void VoteFlood::hear() {
    const auto is_awaited = [this](std::size_t rank) {
        return rank != rank_ && !has(dead_, rank) && !peers_[rank].is_heard;
    };
    while (question_ && !answer_) {
        for (std::size_t rank = 0; rank < peers_.size() && !answer_; ++rank)
            if (rank != rank_ && !has(dead_, rank)) hear(peers_[rank]);
        if (answer_) return;
        // Who is dead may have been heard meanwhile.
        for (std::size_t rank = 0; rank < peers_.size(); ++rank)
            if (is_awaited(rank)) return;
        end_round();
    }
}

/// Hears the message of a rank in this round, or its answer, if it has come.
void VoteFlood::hear(Peer& peer) {
    std::erase_if(peer.said, [&](const Said& said) { return said.question < *question_; });
    if (peer.said.empty() || peer.said.front().question != *question_) return;
    const bool is_answer = peer.said.front().round == 0;
    if (!is_answer && (peer.is_heard || peer.said.front().round != round_)) return;
    const Said said = std::move(peer.said.front());
    peer.said.erase(peer.said.begin());
    if (is_answer) {
        decide(said.common);
    } else {
        all_say_the_same_ =
            all_say_the_same_ && said.dead == told_dead_ && said.known == told_known_;
        add(dead_, said.dead);
        add(known_, said.known);
        common_ &= said.common;
    }
    peer.is_heard = true;
}

}  // namespace gradcoll
