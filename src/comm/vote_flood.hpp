// comm/vote_flood.hpp - how ranks that only exchange messages come to one answer, whoever dies:
// what one rank makes of what it hears. Pure: no messages, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gradcoll {

/// A VoteFlood is one rank's part in answers to one question after the other, from 0 on. In each
/// round a rank tells all others which votes it knows and who is dead, and waits for the same of
/// all that live. It has the answer once it knows all votes, or if all have told just what it has
/// told itself; then it says so to all, unless there is one other, who needs no more than its vote
/// (docs/decisions/053-sums-that-survivors-agree-on.md). It is used by one thread at a time.
class VoteFlood {
  public:
    using Message = std::vector<std::uint64_t>;

    VoteFlood(int rank, int rank_count);

    /// Returns how many words each message has.
    std::size_t message_words() const { return 2 + 2 * sets_words(); }
    /// Gives this rank's vote; the question before it has been answered here.
    void cast(std::uint64_t question, unsigned vote);
    /// Takes what another rank said; each rank's messages come in their order. What makes no sense
    /// is dropped.
    void take(int from, std::span<const std::uint64_t> message);
    /// Takes note that a rank has died. Nothing that comes from it counts any more.
    void note_death(int rank);
    /// Returns what the votes on the last question that was cast have in common; nothing while that
    /// is not known.
    std::optional<unsigned> answer() const { return answer_; }
    /// Returns whether all that live have said the last that they say of the question.
    bool all_have_said_all() const;
    /// Moves what is to be sent to all others that live, in order, to the caller.
    std::vector<Message> take_messages();

  private:
    /// A Set has a bit for each rank.
    using Set = std::vector<std::uint64_t>;
    /// Said is a message that is understood. In round 0 `common` is the answer.
    struct Said {
        std::uint64_t question = 0;
        std::uint32_t round = 0;
        unsigned common = 0;
        Set dead, known;
    };
    struct Peer {
        std::vector<Said> said;  ///< messages whose turn has not come
        bool is_heard = false;   ///< whether it was heard in this round
        std::uint64_t over = 0;  ///< it has said all that it says of questions before this one
    };

    std::size_t sets_words() const { return (peers_.size() + 63) / 64; }
    static bool has(const Set& set, std::size_t rank) {
        return (set[rank / 64] >> rank % 64 & 1) != 0;
    }
    static void add(Set& set, std::size_t rank) { set[rank / 64] |= std::uint64_t{1} << rank % 64; }
    static void add(Set& set, const Set& others);
    std::optional<Said> understood(std::span<const std::uint64_t> message) const;
    /// Returns whether each rank says one thing of a question: its vote, or the answer in place of
    /// it.
    bool says_one_thing() const { return peers_.size() == 2; }
    bool knows_all() const;
    void say(std::uint32_t round, unsigned common);
    void hear();
    void hear(Peer& peer);
    void end_round();
    void decide(unsigned answer);

    std::vector<Peer> peers_;  ///< one for each rank
    std::size_t rank_;
    Set dead_;
    std::vector<Message> to_send_;
    // These are of the last question that was cast, or of none:
    std::optional<std::uint64_t> question_;
    std::optional<unsigned> answer_;
    std::uint32_t round_ = 0;
    unsigned common_ = 0;  ///< what known votes have in common
    Set known_;            ///< whose votes are known
    Set told_dead_;        ///< what this rank said in this round; told_known_, too
    Set told_known_;
    bool all_say_the_same_ = false;  ///< whether those heard in this round have
};

}  // namespace gradcoll
