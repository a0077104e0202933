#include "api/interposed/handles.hpp"

namespace gradcoll {

ReduceArguments arguments_of(const GC_Reduce_call& call) {
    return {call.sendbuf,
            call.recvbuf,
            call.count,
            handle_of<MPI_Datatype>(call.datatype),
            handle_of<MPI_Op>(call.op),
            handle_of<MPI_Comm>(call.comm)};
}

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
