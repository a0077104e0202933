#include "comm/comm_identity.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "base/mpi/exchange.hpp"
#include "base/mpi/guarded_comms.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "base/watched_process.hpp"
#include "comm/job_on_host.hpp"
#include "comm/self_message.hpp"
#include "mpi/boundary.hpp"
#include "observe/observe.hpp"

namespace gradcoll {
namespace {

std::atomic<bool> sees_completions{false};

/// This is the largest number of ranks of a communicator so far.
std::atomic<int> most_ranks_seen{0};

/// Returns how many ranks of the job this host may have: those of other communicators want the
/// cores, too.
int ranks_of_job(int ranks_of_comm) {
    int most = most_ranks_seen;
    while (most < ranks_of_comm && !most_ranks_seen.compare_exchange_weak(most, ranks_of_comm)) {
    }
    return std::max({ranks_of_comm, most, this_host().ranks_by_launcher});
}

bool should_yield(int ranks_of_comm) {
    if (const auto on = parse_switch(option_text(OptionId::yield)); on.ok()) return *on;
    return ranks_of_job(ranks_of_comm) > this_host().processors;
}

/// Returns a hash of the host's name and of the present boot of its system.
std::uint64_t hash_of_host() {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return Hash().text(name).text(present_boot()).digest();
}

}  // namespace

const HostFacts& this_host() {
    static const HostFacts facts{hash_of_host(), sysconf(_SC_NPROCESSORS_ONLN),
                                 ranks_on_host_by_launcher()};
    return facts;
}

void completions_are_seen() {
    sees_completions = true;
}

Result<PrivateComm> PrivateComm::make(MPI_Comm parent) {
    MPI_Comm made = MPI_COMM_NULL;
    const int code = PMPI_Comm_dup(parent, &made);
    return made_of(parent, {"MPI_Comm_dup", code}, made);
}

Result<PrivateComm> PrivateComm::of(MPI_Comm comm) {
    PrivateComm made;
    made.comm_ = comm;
    GRADCOLL_TRY(return_errors(made.comm_));
    return made;
}

Result<PrivateComm> PrivateComm::made_of(MPI_Comm parent, Making by, MPI_Comm comm) {
    PrivateComm made;
    made.comm_ = by.code == MPI_SUCCESS ? comm : MPI_COMM_NULL;
    GRADCOLL_TRY(GuardedComms::of_all(parent, made.comm_, from_mpi(by.code, by.call)));
    if (made.comm_ != MPI_COMM_NULL) GRADCOLL_TRY(return_errors(made.comm_));
    return made;
}

PrivateComm::PrivateComm(PrivateComm&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}

PrivateComm::~PrivateComm() {
    if (comm_ != MPI_COMM_NULL && mpi_is_running()) free_own_comm(&comm_);
}

Result<CommIdentity> CommIdentity::make(MPI_Comm comm, PrivateComm own) {
    auto private_comm = own.handle() != MPI_COMM_NULL ? Result<PrivateComm>(std::move(own))
                                                      : PrivateComm::make(comm);
    if (!private_comm) return private_comm.status();
    CommIdentity made(std::move(private_comm).value());
    made.user_comm_ = comm;
    PMPI_Comm_rank(made.private_comm(), &made.rank_);
    PMPI_Comm_size(made.private_comm(), &made.rank_count_);
    made.world_ranks_ = world_ranks_of(made.private_comm());
    GRADCOLL_TRY(made.greet());
    GRADCOLL_TRY(made.watch_processes());
    GRADCOLL_TRY(made.count_ranks_on_host());
    GRADCOLL_TRY(made.learn_name());
    if (made.watch_) made.watch_->be_called(printable(made.name_), made.world_ranks_);
    made.yields_ = should_yield(made.ranks_on_host_);
    if (made.yields_) made.patience_ = with_shared_core;
    return made;
}

CommIdentity CommIdentity::part(PrivateComm comm) const {
    CommIdentity made(std::move(comm));
    PMPI_Comm_rank(made.private_comm(), &made.rank_);
    PMPI_Comm_size(made.private_comm(), &made.rank_count_);
    made.world_ranks_ = world_ranks_of(made.private_comm());
    made.watch_ = watch_;
    made.name_ = name_;
    made.yields_ = yields_;
    made.patience_ = patience_;
    made.all_ranks_have_threads_ = all_ranks_have_threads_;
    made.all_ranks_see_completions_ = all_ranks_see_completions_;
    return made;
}

CommIdentity CommIdentity::part_behind_network(PrivateComm comm) const {
    CommIdentity made = part(std::move(comm));
    made.patience_ = with_network;
    return made;
}

/// Asks all ranks one question for what they must all have alike: the least of each number.
Status CommIdentity::greet() {
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    const bool has_threads = level == MPI_THREAD_MULTIPLE;
    known_ = facts_of(world_ranks_);
    const std::uint64_t host = this_host().hash;
    const bool reports = process_report() != nullptr;
    const std::array<std::uint64_t, 7> mine = {has_threads ? 1U : 0U,
                                               known_ ? 1U : 0U,
                                               sees_completions ? 1U : 0U,
                                               host,
                                               ~host,
                                               reports ? 1U : 0U,
                                               knows_processes_of(world_ranks_) ? 1U : 0U};
    const auto least = GRADCOLL_VALUE(combined(private_comm(), MPI_MIN, mine));
    all_ranks_have_threads_ = least[0] != 0;
    if (least[1] == 0) known_.reset();
    all_ranks_see_completions_ = least[2] != 0;
    is_one_host_ = rank_count_ > 1 && least[3] == ~least[4];
    if (least[5] != 0) all_ranks_report(private_comm());
    all_know_processes_ = least[6] != 0;
    return {};
}

/// Ranks tell each other about their processes, whoever looks at these: settings may differ.
Status CommIdentity::watch_processes() {
    const auto names =
        GRADCOLL_VALUE(processes_of(private_comm(), world_ranks_, all_know_processes_));
    if (fault_seconds() > 0 && rank_count_ > 1)
        watch_ = std::make_shared<CommWatch>(private_comm(), rank_, names);
    return {};
}

Status CommIdentity::count_ranks_on_host() {
    if (!known_ && !is_one_host_) return ask_mpi_who_shares_memory();
    ranks_on_host_ = known_ ? known_->ranks_on_host : rank_count_;
    most_ranks_on_host_ = known_ ? known_->most_ranks_on_host : rank_count_;
    return {};
}

Status CommIdentity::ask_mpi_who_shares_memory() {
    MPI_Comm host = MPI_COMM_NULL;
    GRADCOLL_TRY(from_mpi(
        PMPI_Comm_split_type(private_comm(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type"));
    PMPI_Comm_size(host, &ranks_on_host_);
    PMPI_Comm_free(&host);
    return take(most_ranks_on_host_, combined(private_comm(), MPI_MAX, ranks_on_host_));
}

void CommIdentity::remember_agreed(std::shared_ptr<const Tuning> tuning, bool loss_in_doubt) const {
    remember(world_ranks_, {ranks_on_host_, most_ranks_on_host_, std::move(tuning), loss_in_doubt});
}

bool CommIdentity::speaks_for_job() const {
    const auto first_of_job = std::find(world_ranks_.begin(), world_ranks_.end(), 0);
    return first_of_job == world_ranks_.end() ? rank_ == 0
                                              : first_of_job - world_ranks_.begin() == rank_;
}

Status CommIdentity::learn_name() {
    char name[MPI_MAX_OBJECT_NAME] = {};
    comm_name(user_comm_).copy(name, sizeof name - 1);
    GRADCOLL_TRY(broadcast(private_comm(), name));
    name_ = name;
    return {};
}

}  // namespace gradcoll
