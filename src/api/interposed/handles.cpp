#include "api/interposed/fortran.hpp"

#include "api/interposed/handles.hpp"
#include "base/mpi/mpi.hpp"

namespace gradcoll {

GC_Handle comm_of_fortran(int handle) noexcept {
    return bits_of(PMPI_Comm_f2c(handle));
}
GC_Handle datatype_of_fortran(int handle) noexcept {
    return bits_of(PMPI_Type_f2c(handle));
}
GC_Handle op_of_fortran(int handle) noexcept {
    return bits_of(PMPI_Op_f2c(handle));
}
GC_Handle info_of_fortran(int handle) noexcept {
    return bits_of(PMPI_Info_f2c(handle));
}
GC_Handle request_of_fortran(int handle) noexcept {
    return bits_of(PMPI_Request_f2c(handle));
}
int request_to_fortran(const void* request) noexcept {
    return PMPI_Request_c2f(*static_cast<const MPI_Request*>(request));
}

}  // namespace gradcoll
