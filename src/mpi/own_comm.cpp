#include "mpi/own_comm.hpp"

namespace gradcoll {

Result<OwnedComm> make_own_comm() {
    OwnedComm comm;
    OwnedGroup self(MPI_GROUP_NULL);
    constexpr int tag = 0x6763;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_group(MPI_COMM_SELF, &self.handle), "MPI_Comm_group"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_create_group(MPI_COMM_SELF, self.handle, tag, &comm.handle),
                          "MPI_Comm_create_group"));
    PMPI_Comm_set_errhandler(comm.handle, errors_return());
    return comm;
}

}  // namespace gradcoll
