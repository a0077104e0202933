#include "api/comm/comm_identity.hpp"

#include <unistd.h>

#include <utility>

#include "api/comm/token.hpp"
#include "api/edge/boundary.hpp"
#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

bool should_yield(int ranks_on_host) {
    if (const auto on = parse_switch(option_text(OptionId::yield)); on.ok()) return *on;
    return ranks_on_host > sysconf(_SC_NPROCESSORS_ONLN);
}

Result<int> count_ranks_on_host(MPI_Comm comm) {
    MPI_Comm host = MPI_COMM_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                          "MPI_Comm_split_type"));
    int count = 1;
    PMPI_Comm_size(host, &count);
    PMPI_Comm_free(&host);
    return count;
}

}  // namespace

Result<PrivateComm> PrivateComm::make(MPI_Comm parent) {
    PrivateComm made;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_dup(parent, &made.comm_), "MPI_Comm_dup"));
    GRADCOLL_TRY(return_errors(made.comm_));
    return made;
}

PrivateComm::PrivateComm(PrivateComm&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}

PrivateComm::~PrivateComm() {
    if (comm_ != MPI_COMM_NULL && mpi_is_running()) PMPI_Comm_free(&comm_);
}

Result<CommIdentity> CommIdentity::make(MPI_Comm comm) {
    auto duplicate = PrivateComm::make(comm);
    if (!duplicate) return duplicate.status();
    CommIdentity made(std::move(duplicate).value());
    made.user_comm_ = comm;
    GRADCOLL_TRY(made.count_ranks());
    GRADCOLL_TRY(made.learn_name());
    GRADCOLL_TRY(made.ask_for_threads());
    return made;
}

Status CommIdentity::count_ranks() {
    PMPI_Comm_rank(private_comm(), &rank_);
    PMPI_Comm_size(private_comm(), &rank_count_);
    const auto ranks_on_host = count_ranks_on_host(private_comm());
    if (!ranks_on_host) return ranks_on_host.status();
    yields_ = should_yield(*ranks_on_host);
    is_one_host_ = rank_count_ > 1 && *ranks_on_host == rank_count_;
    return {};
}

Status CommIdentity::learn_name() {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    PMPI_Comm_get_name(user_comm_, name, &length);
    GRADCOLL_TRY(from_mpi(PMPI_Bcast(name, sizeof name, MPI_CHAR, 0, private_comm()), "MPI_Bcast"));
    name[sizeof name - 1] = '\0';
    name_ = name;
    return {};
}

Status CommIdentity::ask_for_threads() {
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    const bool has = level == MPI_THREAD_MULTIPLE;
    int all_have_or_lack[] = {has ? 1 : 0, has ? 0 : 1};
    GRADCOLL_TRY(from_mpi(
        PMPI_Allreduce(MPI_IN_PLACE, all_have_or_lack, 2, MPI_INT, MPI_LAND, private_comm()),
        "MPI_Allreduce"));
    all_ranks_have_threads_ = all_have_or_lack[0] != 0;
    no_rank_has_threads_ = all_have_or_lack[1] != 0;
    return {};
}

}  // namespace gradcoll
