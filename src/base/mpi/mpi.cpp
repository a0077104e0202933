#include "base/mpi/mpi.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace gradcoll {
namespace {

struct ErrorClass {
    int number;
    std::string_view text;
};
/// These are the classes that calls of this library can meet. Texts say what MPI 5 says of them.
constexpr ErrorClass error_classes[] = {
    {MPI_ERR_BUFFER, "MPI_ERR_BUFFER, invalid buffer"},
    {MPI_ERR_COUNT, "MPI_ERR_COUNT, invalid count"},
    {MPI_ERR_TYPE, "MPI_ERR_TYPE, invalid datatype"},
    {MPI_ERR_TAG, "MPI_ERR_TAG, invalid tag"},
    {MPI_ERR_COMM, "MPI_ERR_COMM, invalid communicator"},
    {MPI_ERR_RANK, "MPI_ERR_RANK, invalid rank"},
    {MPI_ERR_REQUEST, "MPI_ERR_REQUEST, invalid request"},
    {MPI_ERR_ROOT, "MPI_ERR_ROOT, invalid root"},
    {MPI_ERR_GROUP, "MPI_ERR_GROUP, invalid group"},
    {MPI_ERR_OP, "MPI_ERR_OP, invalid operation"},
    {MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY, invalid topology"},
    {MPI_ERR_DIMS, "MPI_ERR_DIMS, invalid dimension"},
    {MPI_ERR_ARG, "MPI_ERR_ARG, invalid argument"},
    {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN, unknown error"},
    {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE, message is longer than the buffer"},
    {MPI_ERR_OTHER, "MPI_ERR_OTHER"},
    {MPI_ERR_INTERN, "MPI_ERR_INTERN, internal error"},
    {MPI_ERR_PENDING, "MPI_ERR_PENDING, pending request"},
    {MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS, the code is in the status"},
    {MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL, invalid keyval"},
    {MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM, no memory"},
    {MPI_ERR_INFO, "MPI_ERR_INFO, invalid info"},
    {MPI_ERR_INFO_KEY, "MPI_ERR_INFO_KEY, info key is too long"},
    {MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE, info value is too long"},
    {MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION, unsupported operation"},
};

/// Returns the name of the code's class, and what it means.
std::string class_text(int mpi_code) {
    int number = MPI_ERR_UNKNOWN;
    PMPI_Error_class(mpi_code, &number);
    const auto* const found = std::ranges::find(error_classes, number, &ErrorClass::number);
    return found != std::end(error_classes) ? std::string(found->text)
                                            : "error class " + std::to_string(number);
}

}  // namespace

MPI_Errhandler errors_return() {
#ifdef GRADCOLL_STANDARD_ABI
    // It is the default of files, which can be asked for and breaks nothing.
    static const MPI_Errhandler asked = [] {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        PMPI_File_get_errhandler(MPI_FILE_NULL, &handler);
        return handler == MPI_ERRORS_ABORT ? handler : MPI_ERRORS_RETURN;
    }();
    return asked;
#else
    return MPI_ERRORS_RETURN;
#endif
}

std::string mpi_error_text(int mpi_code) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    PMPI_Error_string(mpi_code, text, &length);
    const std::string of_mpi(text, static_cast<std::size_t>(length));
    return mpi_has_standard_abi ? class_text(mpi_code) + " (MPI's text: " + of_mpi + ")" : of_mpi;
}

namespace {

/// Returns whether the MPI library says that a process has failed, or that the communicator was
/// revoked therefore (ULFM).
bool tells_of_death([[maybe_unused]] int mpi_code) {
#ifdef MPIX_ERR_PROC_FAILED
    int number = MPI_SUCCESS;
    PMPI_Error_class(mpi_code, &number);
    return number == MPIX_ERR_PROC_FAILED || number == MPIX_ERR_PROC_FAILED_PENDING ||
           number == MPIX_ERR_REVOKED;
#else
    return false;
#endif
}

}  // namespace

Status from_mpi(int mpi_code, const char* call) {
    if (mpi_code == MPI_SUCCESS) return {};
    return Status(tells_of_death(mpi_code) ? Code::peer_died : Code::transport,
                  std::string(call) + " failed: " + mpi_error_text(mpi_code));
}

std::string comm_name(MPI_Comm comm) {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    return PMPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS ? name : "";
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
