// comm/verdicts.hpp - whether each sum of a communicator was made: all ranks that live agree on it
// (gc_fault=survive).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "comm/ballots.hpp"
#include "comm/comm_identity.hpp"

namespace gradcoll {

/// Verdicts are given on the sums of one communicator in the order in which these were begun, which
/// all ranks share. A sum was made if no rank that votes on it lacks the result. After the verdict
/// in which a death is known all that follow are that the sum was not made. Thread safe.
class Verdicts {
  public:
    Verdicts(std::unique_ptr<Ballots> ballots, std::shared_ptr<PeerWatch> peers, MPI_Comm comm)
        : ballots_(std::move(ballots)), peers_(std::move(peers)), comm_(comm) {}
    /// Makes those of a communicator; `share_memory` says whether ranks of one host may vote in
    /// its memory. Collective. Returns null, on every rank, where ranks have no means to agree, and
    /// says so in a line.
    static std::shared_ptr<Verdicts> make(const CommIdentity& comm, bool share_memory);

    /// Returns the number of the next sum.
    std::uint64_t take_number();
    /// Returns the verdict on a sum that ended with `mine` here: ok, or why it was not made;
    /// nothing while others may still vote. Who lacks the result because a rank has died knows the
    /// verdict at once.
    std::optional<Status> verdict(std::uint64_t number, const Status& mine);
    /// Waits for it while what is started goes on.
    Status wait_for(std::uint64_t number, const Status& mine);
    /// Gives a vote against a sum in which this rank takes no part any more, when its turn comes:
    /// then has_given_all_up() returns true.
    void give_up(std::uint64_t number) { against(number, Vote::goes_on); }
    bool has_given_all_up();
    /// Tells the others that this rank begins no more sums.
    void close();

  private:
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

    void against(std::uint64_t number, unsigned vote);
    void answer_given_up();
    bool has_answer(unsigned& answer, unsigned vote);
    void end_with(std::uint64_t last);
    void learn_of_death();
    Status not_made() const;
    void rest(std::uint64_t number);

    std::mutex mutex_;
    std::unique_ptr<Ballots> ballots_;
    std::shared_ptr<PeerWatch> peers_;
    MPI_Comm comm_;
    std::uint64_t taken_ = 0;          ///< how many numbers have been taken
    std::uint64_t asked_ = 0;          ///< the first sum on which there is no answer here
    bool is_cast_ = false;             ///< whether this rank has voted on it
    std::uint64_t over_from_ = never;  ///< from this sum on nobody votes
    std::map<std::uint64_t, unsigned> given_up_;  ///< votes against sums, which nobody waits for
};

/// PendingVerdict holds the number of one sum, if its communicator has verdicts. A sum that is
/// dropped without a verdict was not made.
class PendingVerdict {
  public:
    PendingVerdict() = default;
    /// Takes the next number; `verdicts` may be null.
    explicit PendingVerdict(std::shared_ptr<Verdicts> verdicts);
    PendingVerdict(PendingVerdict&& other) noexcept = default;
    PendingVerdict& operator=(PendingVerdict&& other) noexcept;
    ~PendingVerdict() { drop(); }

    /// Makes of this rank's status that of all. Returns false while it is not known.
    bool settles(Status& status);
    /// Waits for the status of all.
    Status settled(const Status& mine);

  private:
    void drop() noexcept;

    std::shared_ptr<Verdicts> verdicts_;  ///< null: there is none, or the verdict is known
    std::uint64_t number_ = 0;
};

}  // namespace gradcoll
