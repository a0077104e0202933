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

/// NetworkLearning times the calls first (LinkTiming). Then it measures the network (ProbeSlices)
/// between calls, for a tenth of the time that these take. The tree that this gives must not be
/// slower than the one before. From then on calls and measurements go on being compared, for a
/// hundredth of the time, and for a tenth if calls take another time than they did, or from the
/// beginning twice as long as the tree says: links may be used by others now and then, and hosts
/// may be elsewhere than when an earlier job measured. What another communicator has measured of
/// the same hosts meanwhile is not measured again.
///
/// All ranks add the same calls. One thread at a time may use it.
class NetworkLearning {
  public:
    /// Begins to learn about a tree that the library has found; trees of users are left alone. Asks
    /// nothing yet.
    void begin(const Tree& tree);
    /// Stops learning, as plans must stay as they are.
    void stop();
    bool is_on() const { return phase_ != Phase::off; }
    /// Returns whether calls are timed to learn what links carry, which packing them would hide.
    bool is_timing() const { return phase_ == Phase::timing; }
    /// Returns whether the tree stays, but for times or rates that change.
    bool is_settled() const { return phase_ == Phase::off || phase_ == Phase::watching; }

    /// Measures all at once, until two measurements give the same switches, as nothing is compared
    /// with the tree that follows; then things are as after look_again. Returns false, on all ranks
    /// alike, if there is nothing to find out, if hosts are too busy for seconds, or if all
    /// measurements of that time differ. Collective. Errors: transport.
    Result<bool> measure_now(MPI_Comm comm);

    /// An Advice says what the communicator should do about its tree. It is the same on all ranks.
    enum class Advice : std::uint8_t {
        keep,
        set_rate,    ///< links between hosts carry rate_gbytes_per_s()
        look_again,  ///< the network has been measured(); then tell took()
        go_back      ///< calls were faster with the tree before
    };
    /// Adds a call. Collective where the time has come for something. Errors: transport.
    Result<Advice> add(MPI_Comm comm, const LongCall& call);

    double rate_gbytes_per_s() const { return rate_gbytes_per_s_; }
    const SwitchTree& measured() const { return measured_; }
    /// Tells, after look_again, whether the tree that follows is another one, and in use from now
    /// on.
    void took(bool is_another);

    /// Spent is what slices have taken so far of rank 0's time.
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
    Result<std::optional<SwitchTree>> measured_by_others(MPI_Comm comm);
    Result<std::optional<SwitchTree>> measure_slice(MPI_Comm comm, double allowed_ns);
    Status watch(MPI_Comm comm);
    double usual_time_ns(const LongCall& call) const;

    Phase phase_ = Phase::off;
    std::vector<ProbeHost> hosts_;  ///< hosts to measure; empty: they are too few, or names do not
                                    ///< tell them apart
    bool is_measured_ = false;      ///< whether the tree had rates and switches from the beginning
    double said_gbytes_per_s_ = 0;  ///< what such a tree lets one expect of rate_gbytes_per_s_
    LinkTiming timing_;
    double rate_gbytes_per_s_ = 0;  ///< rate of the busiest link
    double passes_ = 0;             ///< how often a vector goes through it
    double timed_bytes_ = 0;
    std::unique_ptr<ProbeSlices> slices_;
    SwitchTree measured_;
    Spent spent_;
    double credit_ns_ = 0;  ///< time of calls that has not yet paid for a slice; below 0: slices
                            ///< took more
    int calls_since_slice_ = 0;
    double window_ns_ = 0;  ///< time of the calls in now_
    bool is_calm_ = false;  ///< whether calls take as long as they did
    int disturbed_ = 0;     ///< how many measurements in a row hosts were too busy for
    int proof_left_ = 0;    ///< in parts of a call
    int proofs_left_ = 0;
    int calls_left_ = 0;  ///< most calls until proving ends, whatever sizes they have
    CallRates usual_;     ///< rates with the tree in use; while proving, with the one before
    CallRates now_;
};

/// Returns whether two trees lead to the same plans: they differ in the rates of their links alone,
/// and in these by a quarter at most.
bool are_alike(const Tree& a, const Tree& b);

}  // namespace gradcoll
