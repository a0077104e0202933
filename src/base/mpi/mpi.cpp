#include "base/mpi/mpi.hpp"

#include <cstdint>
#include <string>

namespace gradcoll {

Status from_mpi(int mpi_code, const char* call) {
    if (mpi_code == MPI_SUCCESS) return {};
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    PMPI_Error_string(mpi_code, text, &length);
    return Status(Code::transport, std::string(call) + " failed: " + std::string(text, length));
}

Result<std::string> text_of_rank_0(MPI_Comm comm, std::string text, std::size_t most_bytes) {
    std::uint64_t bytes = text.size();
    GRADCOLL_TRY(from_mpi(PMPI_Bcast(&bytes, 1, MPI_UINT64_T, 0, comm), "MPI_Bcast"));
    if (bytes > most_bytes)
        return Status(Code::internal, "a text of " + std::to_string(bytes) +
                                          " bytes was sent; allowed are " +
                                          std::to_string(most_bytes));
    text.resize(bytes);
    if (bytes > 0)
        GRADCOLL_TRY(from_mpi(PMPI_Bcast(text.data(), static_cast<int>(bytes), MPI_BYTE, 0, comm),
                              "MPI_Bcast"));
    return text;
}

}  // namespace gradcoll
