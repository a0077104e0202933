#include "base/mpi/mpi.hpp"

#include <string>

namespace gradcoll {

Status from_mpi(int mpi_code, const char* call) {
    if (mpi_code == MPI_SUCCESS) return {};
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    PMPI_Error_string(mpi_code, text, &length);
    return Status(Code::transport, std::string(call) + " failed: " + std::string(text, length));
}

}  // namespace gradcoll
