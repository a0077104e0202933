// comm/comm_identity.hpp - who a communicator is to us: the caller's handle and our duplicate,
// its ranks and its name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "comm/known_processes.hpp"
#include "transport/shm/waiter.hpp"

namespace gradcoll {

/// A duplicate of a communicator, for our messages alone. Frees itself while MPI runs. Errors on it
/// come back as codes (return_errors() in token.hpp).
class PrivateComm {
  public:
    /// Collective over `parent`. Errors: transport.
    static Result<PrivateComm> make(MPI_Comm parent);
    /// None: MPI_COMM_NULL.
    PrivateComm() = default;
    PrivateComm(PrivateComm&& other) noexcept;
    PrivateComm& operator=(PrivateComm&&) = delete;
    ~PrivateComm();

    MPI_Comm handle() const { return comm_; }
    /// Takes a communicator that is ours already.
    static Result<PrivateComm> of(MPI_Comm comm);

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// All but the caller's handle stays as it was when the communicator was attached.
class CommIdentity {
  public:
    /// Collective over `comm`, an intracommunicator. Errors: transport.
    static Result<CommIdentity> make(MPI_Comm comm);
    /// Some ranks of it, in a communicator of their own. Local; what holds for all ranks of the
    /// whole is known.
    CommIdentity part(PrivateComm comm) const;
    /// The same for ranks of one host, of which one talks to other hosts for all.
    CommIdentity part_behind_network(PrivateComm comm) const;

    /// The caller's communicator; MPI_COMM_NULL once it has been freed.
    const MPI_Comm& user_comm() const { return user_comm_; }
    void forget_user_comm() { user_comm_ = MPI_COMM_NULL; }
    MPI_Comm private_comm() const { return private_comm_.handle(); }
    int rank() const { return rank_; }
    int rank_count() const { return rank_count_; }
    /// As at world_ranks_of().
    const std::vector<int>& world_ranks() const { return world_ranks_; }
    /// What all ranks know from an earlier communicator of these processes; null if one does not.
    const ProcessFacts* known() const { return known_ ? &*known_ : nullptr; }
    /// From now on later communicators of these processes need not ask for the tuning, nor whether
    /// the settings of the environment are alike, which they are, or whether some rank ignores
    /// something that may limit loss.
    void remember_agreed(std::shared_ptr<const Tuning> tuning, bool loss_in_doubt) const;
    /// Whether this rank says what all ranks would say alike: rank 0 of the job, or, where that
    /// takes no part, rank 0 of the communicator.
    bool speaks_for_job() const;
    /// As rank 0 had it: names belong to a rank, and GC_COMPRESS_COMMS must mean the same on all.
    const std::string& name() const { return name_; }
    /// More than one rank, and all of them on this host.
    bool is_one_host() const { return is_one_host_; }
    /// Of the host that has most of them.
    int most_ranks_on_host() const { return most_ranks_on_host_; }
    /// Whether this rank gives its core away while it waits (GC_YIELD). By itself it does if the
    /// ranks of its whole job on this host outnumber the cores, as far as is known: a communicator
    /// of two has no cores of its own where others run. Local: nobody else sees what it does.
    bool yields() const { return yields_; }
    /// How it waits in shared memory.
    const Patience& patience() const { return patience_; }
    /// Whether MPI_THREAD_MULTIPLE holds on every rank.
    bool all_ranks_have_threads() const { return all_ranks_have_threads_; }
    /// Whether every rank sees how its program completes requests (completions_are_seen()).
    bool all_ranks_see_completions() const { return all_ranks_see_completions_; }

  private:
    explicit CommIdentity(PrivateComm private_comm) : private_comm_(std::move(private_comm)) {}
    Status greet();
    Status count_ranks_on_host();
    Status ask_mpi_who_shares_memory();
    Status learn_name();

    MPI_Comm user_comm_ = MPI_COMM_NULL;
    PrivateComm private_comm_;
    int rank_ = 0;
    int rank_count_ = 1;
    std::vector<int> world_ranks_;
    std::optional<ProcessFacts> known_;
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
    int ranks_by_launcher = 0;  ///< of this job on this host; 0: the launcher does not say
};
/// Asks the system the first time, which takes as long as a few calls.
const HostFacts& this_host();

/// From now on this process makes progress whenever the program waits for a request of MPI, on the
/// program's thread: so requests of ours end without MPI_THREAD_MULTIPLE, too. Thread safe.
void completions_are_seen();

}  // namespace gradcoll
