#include "api/comm/comm_identity.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "api/comm/agreement.hpp"
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

/// Whether all ranks of MPI_COMM_WORLD are on one host: known once a communicator of all of them
/// has been looked at, so on all of them or on none.
std::atomic<bool> world_is_one_host{false};

/// Which ranks of MPI_COMM_WORLD a communicator has.
enum class Part : std::uint8_t { some, all, not_of_world };

Part part_of_world(MPI_Comm comm) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group both = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_intersection(group, world, &both);
    int size = 0;
    int world_size = 0;
    int size_of_both = 0;
    PMPI_Group_size(group, &size);
    PMPI_Group_size(world, &world_size);
    PMPI_Group_size(both, &size_of_both);
    for (MPI_Group* const used : {&group, &world, &both}) PMPI_Group_free(used);
    if (size_of_both < size) return Part::not_of_world;
    return size == world_size ? Part::all : Part::some;
}

Result<int> ask_for_ranks_on_host(MPI_Comm comm) {
    MPI_Comm host = MPI_COMM_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                          "MPI_Comm_split_type"));
    int count = 1;
    PMPI_Comm_size(host, &count);
    PMPI_Comm_free(&host);
    return count;
}

/// Asks the ranks, which takes longer than all else that attaching does, unless the answer is
/// known.
Result<int> count_ranks_on_host(MPI_Comm comm) {
    int rank_count = 0;
    PMPI_Comm_size(comm, &rank_count);
    const Part part = part_of_world(comm);
    if (part != Part::not_of_world && world_is_one_host) return rank_count;
    auto on_host = ask_for_ranks_on_host(comm);
    if (on_host && part == Part::all && *on_host == rank_count) world_is_one_host = true;
    return on_host;
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

Result<bool> is_on_one_host(MPI_Comm comm) {
    int rank_count = 0;
    PMPI_Comm_size(comm, &rank_count);
    const auto on_host = count_ranks_on_host(comm);
    if (!on_host) return on_host.status();
    return *on_host == rank_count;
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
    return take(all_ranks_have_threads_, all_ranks(private_comm(), level == MPI_THREAD_MULTIPLE));
}

}  // namespace gradcoll
