#include "mpi/boundary.hpp"

#include <map>
#include <mutex>
#include <string_view>

#include "base/mpi/mpi.hpp"

namespace gradcoll {
namespace {

std::mutex codes_mutex;
std::map<int, int> code_of_class;  // guarded by codes_mutex

/// Returns whether codes that are added to a predefined class have texts: MPICH 4.0 takes them for
/// its own.
bool added_codes_have_texts(int code, int mpi_class) {
    static const bool they_have = [&] {
        constexpr std::string_view text = "gradcoll: no error";
        char found[MPI_MAX_ERROR_STRING] = {};
        int length = 0;
        int its_class = MPI_SUCCESS;
        return PMPI_Add_error_string(code, text.data()) == MPI_SUCCESS &&
               PMPI_Error_string(code, found, &length) == MPI_SUCCESS && text == found &&
               PMPI_Error_class(code, &its_class) == MPI_SUCCESS && its_class == mpi_class;
    }();
    return they_have;
}

/// Returns MPI_SUCCESS if MPI makes no code.
int code_of(int mpi_class) {
    const auto known = code_of_class.find(mpi_class);
    if (known != code_of_class.end()) return known->second;
    int code = MPI_SUCCESS;
    if (PMPI_Add_error_code(mpi_class, &code) != MPI_SUCCESS) return MPI_SUCCESS;
    code_of_class[mpi_class] = code;
    return code;
}

}  // namespace

int class_of_death() {
#ifdef MPIX_ERR_PROC_FAILED
    return MPIX_ERR_PROC_FAILED;
#else
    static const int own_class = []() -> int {  // classes of the standard ABI are an enum
        int made = MPI_ERR_OTHER;
        if (PMPI_Add_error_class(&made) != MPI_SUCCESS) return MPI_ERR_OTHER;
        PMPI_Add_error_string(made, "gradcoll: a rank of the communicator has died");
        return made;
    }();
    return own_class;
#endif
}

int code_with_text(int mpi_class, const std::string& text) {
    const std::scoped_lock lock(codes_mutex);
    const int code = code_of(mpi_class);
    if (code == MPI_SUCCESS || !added_codes_have_texts(code, mpi_class)) return mpi_class;
    const std::string fitting = text.substr(0, MPI_MAX_ERROR_STRING - 1);
    return PMPI_Add_error_string(code, fitting.c_str()) == MPI_SUCCESS ? code : mpi_class;
}

}  // namespace gradcoll
