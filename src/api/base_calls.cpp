// GC_Error_string, GC_Get_version, GC_Type_float16, GC_Type_bfloat16.
#include <algorithm>
#include <cstring>

#include "gradcoll/base.h"
#include "mpi/boundary.hpp"
#include "mpi/element_types.hpp"

namespace {

using gradcoll::last_error_text;

int copy_text(std::string_view message, char* text, int* length) {
    const std::size_t size = std::min<std::size_t>(message.size(), GC_MAX_ERROR_STRING - 1);
    std::memcpy(text, message.data(), size);
    text[size] = '\0';
    if (length != nullptr) *length = static_cast<int>(size);
    return MPI_SUCCESS;
}

/// Returns whether MPI has a text for the code. Asking it for that of a code that it does not know
/// may end the program.
bool has_text_of_mpi(int code) {
    if (!gradcoll::mpi_is_running()) return false;
    if (!gradcoll::mpi_counts_error_codes) return true;
    const int* last = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &found);
    return code >= 0 && found != 0 && code <= *last;
}

MPI_Datatype handle_or_null(gradcoll::Result<MPI_Datatype> (*make)()) noexcept try {
    if (!gradcoll::mpi_is_running()) return MPI_DATATYPE_NULL;
    const auto type = make();
    return type.ok() ? *type : MPI_DATATYPE_NULL;
} catch (...) {
    return MPI_DATATYPE_NULL;
}

}  // namespace

extern "C" int GC_Error_string(int code, char* text, int* length) {
    if (text == nullptr) return MPI_ERR_ARG;
    if (const std::string* message = last_error_text(code))
        return copy_text(*message, text, length);
    char mpi_text[MPI_MAX_ERROR_STRING];
    int mpi_length = 0;
    if (!has_text_of_mpi(code) || PMPI_Error_string(code, mpi_text, &mpi_length) != MPI_SUCCESS)
        return copy_text("MPI error code " + std::to_string(code), text, length);
    return copy_text(gradcoll::mpi_error_text(code), text, length);
}

extern "C" int GC_Get_version(int* major, int* minor, int* patch) {
    if (major != nullptr) *major = GC_VERSION_MAJOR;
    if (minor != nullptr) *minor = GC_VERSION_MINOR;
    if (patch != nullptr) *patch = GC_VERSION_PATCH;
    return MPI_SUCCESS;
}

extern "C" MPI_Datatype GC_Type_float16(void) {
    return handle_or_null(gradcoll::float16_type);
}

extern "C" MPI_Datatype GC_Type_bfloat16(void) {
    return handle_or_null(gradcoll::bfloat16_type);
}
