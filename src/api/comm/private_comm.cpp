#include "api/comm/private_comm.hpp"

#include <utility>

#include "api/comm/token.hpp"
#include "api/edge/boundary.hpp"

namespace gradcoll {

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

}  // namespace gradcoll
