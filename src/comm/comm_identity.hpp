// comm/comm_identity.hpp - who a communicator is to us: the caller's handle and our duplicate,
// its ranks and its name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "comm/comm_watch.hpp"
#include "comm/known_processes.hpp"
#include "transport/shm/waiter.hpp"

namespace gradcoll {

/// A PrivateComm is a duplicate of a communicator, for our messages alone. It frees itself while
/// MPI runs. Errors on it come back as codes (return_errors() in self_message.hpp).
class PrivateComm {
  public:
    /// Makes a duplicate of `parent`. Collective over it. Errors: transport, peer_failed.
    static Result<PrivateComm> make(MPI_Comm parent);
    /// Makes one that has no communicator (MPI_COMM_NULL).
    PrivateComm() = default;
    PrivateComm(PrivateComm&& other) noexcept;
    PrivateComm& operator=(PrivateComm&&) = delete;
    ~PrivateComm();

    MPI_Comm handle() const { return comm_; }
    /// Takes a communicator that is ours already.
    static Result<PrivateComm> of(MPI_Comm comm);
    /// Making is the call of MPI that made a communicator, and its code.
    struct Making {
        const char* call;
        int code;
    };
    /// Takes what a call made of `parent` on this rank; null where it is no member. Collective
    /// over the parent where that is guarded (GuardedComms). Errors: transport, peer_failed.
    static Result<PrivateComm> made_of(MPI_Comm parent, Making by, MPI_Comm comm);

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Nothing in a CommIdentity but the caller's handle changes after the communicator was attached.
class CommIdentity {
  public:
    /// Makes the identity of `comm`, an intracommunicator. `own` has the same ranks in the same
    /// order; if it has no communicator, a duplicate is made. Collective over `comm`. Errors:
    /// transport.
    static Result<CommIdentity> make(MPI_Comm comm, PrivateComm own = {});
    /// Returns the identity of some of its ranks, in a communicator of their own. Local; what holds
    /// for all ranks of the whole is known.
    CommIdentity part(PrivateComm comm) const;
    /// Does the same for ranks of one host, of which one talks to other hosts for all.
    CommIdentity part_behind_network(PrivateComm comm) const;

    /// Returns the caller's communicator; MPI_COMM_NULL once it has been freed.
    const MPI_Comm& user_comm() const { return user_comm_; }
    void forget_user_comm() { user_comm_ = MPI_COMM_NULL; }
    MPI_Comm private_comm() const { return private_comm_.handle(); }
    int rank() const { return rank_; }
    int rank_count() const { return rank_count_; }
    /// Returns what world_ranks_of() says of the communicator.
    const std::vector<int>& world_ranks() const { return world_ranks_; }
    /// Returns what knows of ranks of the whole communicator that have died; null if nobody looks.
    /// A part has that of the whole.
    const std::shared_ptr<PeerWatch>& watch() const { return watch_; }
    /// Returns peer_died if a rank is known to have died; else ok. No system call.
    Status death() const { return has_dead_rank() ? watch_->fault() : Status(); }
    bool has_dead_rank() const { return watch_ != nullptr && watch_->has_fault(); }
    /// Returns what all ranks know from an earlier communicator of these processes; null if one of
    /// them does not.
    const ProcessFacts* known() const { return known_ ? &*known_ : nullptr; }
    /// Remembers what was agreed on. Later communicators of these processes need not ask for the
    /// tuning, nor whether the settings of the environment are alike, which they are, or whether
    /// some rank ignores something that may limit loss.
    void remember_agreed(std::shared_ptr<const Tuning> tuning, bool loss_in_doubt) const;
    /// Returns whether this rank says what all ranks would say alike: rank 0 of the job does, or,
    /// if that takes no part, rank 0 of the communicator.
    bool speaks_for_job() const;
    /// Returns the name that rank 0 had for it: names belong to a rank, and GC_COMPRESS_COMMS must
    /// mean the same on all.
    const std::string& name() const { return name_; }
    /// Returns whether there are several ranks, and all of them on this host.
    bool is_one_host() const { return is_one_host_; }
    /// Returns how many ranks are on the host that has most of them.
    int most_ranks_on_host() const { return most_ranks_on_host_; }
    /// Returns whether this rank gives its core away while it waits (GC_YIELD). By default it does
    /// if the ranks of its whole job on this host outnumber the cores, as far as is known: a
    /// communicator of two has no cores of its own where others run. Local: nobody else sees what
    /// it does.
    bool yields() const { return yields_; }
    /// Returns how this rank waits in shared memory.
    const Patience& patience() const { return patience_; }
    /// Returns whether MPI_THREAD_MULTIPLE holds on every rank.
    bool all_ranks_have_threads() const { return all_ranks_have_threads_; }
    /// Returns whether every rank sees how its program completes requests (completions_are_seen()).
    bool all_ranks_see_completions() const { return all_ranks_see_completions_; }

  private:
    explicit CommIdentity(PrivateComm private_comm) : private_comm_(std::move(private_comm)) {}
    Status greet();
    Status watch_processes();
    Status count_ranks_on_host();
    Status ask_mpi_who_shares_memory();
    Status learn_name();

    MPI_Comm user_comm_ = MPI_COMM_NULL;
    PrivateComm private_comm_;
    int rank_ = 0;
    int rank_count_ = 1;
    std::vector<int> world_ranks_;
    std::optional<ProcessFacts> known_;
    bool all_know_processes_ = false;
    std::shared_ptr<PeerWatch> watch_;
    int ranks_on_host_ = 1;
    int most_ranks_on_host_ = 1;
    std::string name_;
    bool is_one_host_ = false;
    bool yields_ = false;
    Patience patience_ = with_own_core;
    bool all_ranks_have_threads_ = false;
    bool all_ranks_see_completions_ = false;
};

struct HostFacts {
    std::uint64_t hash = 0;  ///< equal on processes of one host, different on those of others
    long processors = 0;
    int ranks_by_launcher = 0;  ///< number of ranks of this job on this host; 0: the launcher does
                                ///< not say
};
/// Returns the facts of this host. It asks the system the first time, which takes as long as a few
/// calls.
const HostFacts& this_host();

/// Makes it known that this process makes progress from now on whenever the program waits for a
/// request of MPI, on the program's thread: so requests of ours end without MPI_THREAD_MULTIPLE,
/// too. Thread safe.
void completions_are_seen();

}  // namespace gradcoll
