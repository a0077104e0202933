#include "api/edge/error_codes.hpp"

#include <map>
#include <mutex>

#include "base/mpi/mpi.hpp"

namespace gradcoll {
namespace {

std::mutex codes_mutex;
std::map<int, int> code_of_class;  // guarded by codes_mutex

/// MPI_SUCCESS: MPI makes none.
int code_of(int mpi_class) {
    const auto known = code_of_class.find(mpi_class);
    if (known != code_of_class.end()) return known->second;
    int code = MPI_SUCCESS;
    if (PMPI_Add_error_code(mpi_class, &code) != MPI_SUCCESS) return MPI_SUCCESS;
    code_of_class[mpi_class] = code;
    return code;
}

}  // namespace

int code_with_text(int mpi_class, const std::string& text) {
    if (!mpi_counts_error_codes) return mpi_class;
    const std::scoped_lock lock(codes_mutex);
    const int code = code_of(mpi_class);
    if (code == MPI_SUCCESS) return mpi_class;
    const std::string fitting = text.substr(0, MPI_MAX_ERROR_STRING - 1);
    return PMPI_Add_error_string(code, fitting.c_str()) == MPI_SUCCESS ? code : mpi_class;
}

}  // namespace gradcoll
