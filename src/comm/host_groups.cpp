#include "comm/host_groups.hpp"

#include <utility>

#include "base/mpi/exchange.hpp"

namespace gradcoll {
namespace {

Result<PrivateComm> split(const CommIdentity& whole, int color) {
    MPI_Comm part = MPI_COMM_NULL;
    const int code = PMPI_Comm_split(whole.private_comm(), color, whole.rank(), &part);
    return PrivateComm::made_of(whole.private_comm(), {"MPI_Comm_split", code}, part);
}

Result<HostGroups> groups_of(const CommIdentity& whole, PrivateComm host) {
    HostGroups groups{whole.part_behind_network(std::move(host)), {}, {}};
    int leader = whole.rank();
    GRADCOLL_TRY(broadcast(groups.local.private_comm(), leader));
    groups.leader_of = GRADCOLL_VALUE(gathered(whole.private_comm(), leader));
    auto leaders = split(whole, leader == whole.rank() ? 0 : MPI_UNDEFINED);
    if (!leaders) return leaders.status();
    if (leader == whole.rank()) groups.leaders.emplace(whole.part(std::move(leaders).value()));
    return groups;
}

}  // namespace

Result<HostGroups> HostGroups::make(const CommIdentity& whole) {
    MPI_Comm host = MPI_COMM_NULL;
    const int code = PMPI_Comm_split_type(whole.private_comm(), MPI_COMM_TYPE_SHARED, whole.rank(),
                                          MPI_INFO_NULL, &host);
    auto taken = PrivateComm::made_of(whole.private_comm(), {"MPI_Comm_split_type", code}, host);
    return taken ? groups_of(whole, std::move(taken).value()) : taken.status();
}

Result<HostGroups> HostGroups::make(const CommIdentity& whole, int host) {
    auto taken = split(whole, host);
    return taken ? groups_of(whole, std::move(taken).value()) : taken.status();
}

}  // namespace gradcoll
