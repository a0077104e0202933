// api/comm/private_comm.hpp - a duplicate of a communicator, for our messages alone.
#pragma once

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// Frees itself while MPI runs. Errors on it come back as codes (return_errors() in token.hpp).
class PrivateComm {
  public:
    /// Collective over `parent`. Errors: transport.
    static Result<PrivateComm> make(MPI_Comm parent);
    PrivateComm(PrivateComm&& other) noexcept;
    PrivateComm& operator=(PrivateComm&&) = delete;
    ~PrivateComm();

    MPI_Comm handle() const { return comm_; }

  private:
    PrivateComm() = default;

    MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace gradcoll
