#include "comm/host_groups.hpp"

#include <utility>

namespace gradcoll {
namespace {

Result<PrivateComm> split(const CommIdentity& whole, int color) {
    MPI_Comm part = MPI_COMM_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_split(whole.private_comm(), color, whole.rank(), &part),
                          "MPI_Comm_split"));
    return part == MPI_COMM_NULL ? Result<PrivateComm>(PrivateComm()) : PrivateComm::of(part);
}

Result<HostGroups> groups_of(const CommIdentity& whole, PrivateComm host) {
    HostGroups groups{whole.part_behind_network(std::move(host)), {}, {}};
    int leader = whole.rank();
    GRADCOLL_TRY(
        from_mpi(PMPI_Bcast(&leader, 1, MPI_INT, 0, groups.local.private_comm()), "MPI_Bcast"));
    groups.leader_of.resize(static_cast<std::size_t>(whole.rank_count()));
    GRADCOLL_TRY(from_mpi(PMPI_Allgather(&leader, 1, MPI_INT, groups.leader_of.data(), 1, MPI_INT,
                                         whole.private_comm()),
                          "MPI_Allgather"));
    auto leaders = split(whole, leader == whole.rank() ? 0 : MPI_UNDEFINED);
    if (!leaders) return leaders.status();
    if (leader == whole.rank()) groups.leaders.emplace(whole.part(std::move(leaders).value()));
    return groups;
}

}  // namespace

Result<HostGroups> HostGroups::make(const CommIdentity& whole) {
    MPI_Comm host = MPI_COMM_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_split_type(whole.private_comm(), MPI_COMM_TYPE_SHARED,
                                               whole.rank(), MPI_INFO_NULL, &host),
                          "MPI_Comm_split_type"));
    auto taken = PrivateComm::of(host);
    return taken ? groups_of(whole, std::move(taken).value()) : taken.status();
}

Result<HostGroups> HostGroups::make(const CommIdentity& whole, int host) {
    auto taken = split(whole, host);
    return taken ? groups_of(whole, std::move(taken).value()) : taken.status();
}

}  // namespace gradcoll
