// How the ranks of one host get a communicator of their own.
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/mpi/guarded_comms.hpp"
#include "base/mpi/mpi.hpp"

namespace gradcoll {
namespace {

/// Finds the numbers of the ranks in `of`. Local.
Status name_ranks(MPI_Comm of, HostComm& host) {
    OwnedGroup all(MPI_GROUP_NULL), here(MPI_GROUP_NULL);
    GRADCOLL_TRY(from_mpi(PMPI_Comm_group(of, &all.handle), "MPI_Comm_group"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_group(host.comm.handle, &here.handle), "MPI_Comm_group"));
    std::vector<int> own(static_cast<std::size_t>(host.size));
    std::iota(own.begin(), own.end(), 0);
    host.ranks.resize(own.size());
    return from_mpi(PMPI_Group_translate_ranks(here.handle, host.size, own.data(), all.handle,
                                               host.ranks.data()),
                    "MPI_Group_translate_ranks");
}

}  // namespace

Result<HostComm> HostComm::make(MPI_Comm of) {
    HostComm host;
    MPI_Comm& handle = host.comm.handle;
    const int code = PMPI_Comm_split_type(of, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &handle);
    GRADCOLL_TRY(GuardedComms::of_all(of, handle, from_mpi(code, "MPI_Comm_split_type")));
    PMPI_Comm_set_errhandler(handle, errors_return());
    PMPI_Comm_rank(handle, &host.rank);
    PMPI_Comm_size(handle, &host.size);
    GRADCOLL_TRY(name_ranks(of, host));
    return host;
}

}  // namespace gradcoll
