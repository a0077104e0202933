// ways/learn/network_learning.hpp - what a communicator of several hosts learns of the network
// while it makes long calls, where nobody told of switches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "topology/sources/cluster/probe_slices.hpp"
#include "topology/tree.hpp"
#include "ways/learn/call_rates.hpp"
#include "ways/learn/link_timing.hpp"

namespace gradcoll {

/// A long blocking allreduce between hosts that has ended, on whatever rank and however.
struct LongCall {
    std::uint64_t vector_bytes = 0;
    bool exact = true;
    std::uint64_t elapsed_ns = 0;  ///< of this rank; all else is the same on all ranks
};

/// First the calls are timed (LinkTiming). Then the network is measured (ProbeSlices) between
/// calls, for a tenth of the time that these take. The tree that this gives must not be slower than
/// the one before. From then on calls and measurements go on being compared, for a hundredth of the
/// time, and for a tenth if calls take another time than they did: links may be used by others now
/// and then.
///
/// All ranks add the same calls. By one thread at a time.
class NetworkLearning {
  public:
    /// For a tree that the library found; another one is left alone. Asks nothing yet.
    void begin(const Tree& tree);
    /// Plans must stay as they are.
    void stop();
    bool is_on() const { return phase_ != Phase::off; }
    /// Whether the tree stays, but for times or rates that change.
    bool is_settled() const { return phase_ == Phase::off || phase_ == Phase::watching; }

    /// All at once, for whoever keeps the tree that follows: as after look_again. False, on all
    /// ranks alike, if there is nothing to find out, or if it takes seconds. Collective. Errors:
    /// transport.
    Result<bool> measure_now(MPI_Comm comm);

    /// What the communicator should do about its tree. The same on all ranks.
    enum class Advice : std::uint8_t {
        keep,
        set_rate,    ///< links between hosts carry rate_gbytes_per_s()
        look_again,  ///< the network has been measured(); then tell took()
        go_back      ///< calls were faster with the tree before
    };
    /// Collective where the time has come for something. Errors: transport.
    Result<Advice> add(MPI_Comm comm, const LongCall& call);

    double rate_gbytes_per_s() const { return rate_gbytes_per_s_; }
    const SwitchTree& measured() const { return measured_; }
    /// After look_again: whether the tree that follows is another one, and in use from now on.
    void took(bool is_another);

    /// So far, of rank 0's time.
    struct Spent {
        int slices = 0;
        std::uint64_t ns = 0;
    };
    const Spent& spent() const { return spent_; }

  private:
    enum class Phase : std::uint8_t { off, timing, measuring, proving, watching };

    Result<Advice> add_timed(MPI_Comm comm, const LongCall& call);
    Result<Advice> add_proof(MPI_Comm comm, const LongCall& call);
    Result<Advice> measure(MPI_Comm comm);
    Result<std::optional<SwitchTree>> measure_slice(MPI_Comm comm, double allowed_ns);
    Status watch(MPI_Comm comm);
    double usual_time_ns(const LongCall& call) const;

    Phase phase_ = Phase::off;
    std::vector<ProbeHost> hosts_;  ///< to measure; empty: too few, or of one name
    bool is_measured_ = false;      ///< from the beginning
    LinkTiming timing_;
    double rate_gbytes_per_s_ = 0;  ///< of the busiest link
    double passes_ = 0;             ///< how often a vector goes through it
    double timed_bytes_ = 0;
    std::unique_ptr<ProbeSlices> slices_;
    SwitchTree measured_;
    Spent spent_;
    double credit_ns_ = 0;  ///< time of calls that no slice has been paid with; below 0: owed
    int calls_since_slice_ = 0;
    double window_ns_ = 0;  ///< time of the calls in now_
    bool is_calm_ = false;  ///< calls take as long as they did
    int calls_to_prove_ = 0;
    int proofs_left_ = 0;
    int calls_left_ = 0;  ///< if others come than those that prove
    CallRates usual_;     ///< with the tree in use; while proving, with the one before
    CallRates now_;
};

/// Whether two trees lead to the same plans: they differ in the rates of their links alone, and in
/// these by a quarter at most.
bool are_alike(const Tree& a, const Tree& b);

}  // namespace gradcoll
