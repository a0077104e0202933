// GC_Type_float16, GC_Type_bfloat16.
#include "api/edge/boundary.hpp"
#include "api/edge/element_types.hpp"
#include "gradcoll/base.h"

namespace {

MPI_Datatype handle_or_null(gradcoll::Result<MPI_Datatype> (*make)()) noexcept try {
    if (!gradcoll::mpi_is_running()) return MPI_DATATYPE_NULL;
    const auto type = make();
    return type.ok() ? *type : MPI_DATATYPE_NULL;
} catch (...) {
    return MPI_DATATYPE_NULL;
}

}  // namespace

extern "C" MPI_Datatype GC_Type_float16(void) {
    return handle_or_null(gradcoll::float16_type);
}
extern "C" MPI_Datatype GC_Type_bfloat16(void) {
    return handle_or_null(gradcoll::bfloat16_type);
}
