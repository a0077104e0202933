// base/mpi/fortran_handles.hpp - Fortran's handles, which are numbers, and those of C. The header
// of the standard ABI of MPI 5 has other names for the same.
#pragma once

#include "base/mpi/mpi.hpp"

namespace gradcoll {

#ifdef GRADCOLL_STANDARD_ABI
inline MPI_Comm comm_of_number(int number) {
    return PMPI_Comm_fromint(number);
}
inline MPI_Datatype datatype_of_number(int number) {
    return PMPI_Type_fromint(number);
}
inline MPI_Op op_of_number(int number) {
    return PMPI_Op_fromint(number);
}
inline MPI_Info info_of_number(int number) {
    return PMPI_Info_fromint(number);
}
inline MPI_Request request_of_number(int number) {
    return PMPI_Request_fromint(number);
}
inline int number_of(MPI_Request request) {
    return PMPI_Request_toint(request);
}
#else
inline MPI_Comm comm_of_number(int number) {
    return PMPI_Comm_f2c(number);
}
inline MPI_Datatype datatype_of_number(int number) {
    return PMPI_Type_f2c(number);
}
inline MPI_Op op_of_number(int number) {
    return PMPI_Op_f2c(number);
}
inline MPI_Info info_of_number(int number) {
    return PMPI_Info_f2c(number);
}
inline MPI_Request request_of_number(int number) {
    return PMPI_Request_f2c(number);
}
inline int number_of(MPI_Request request) {
    return PMPI_Request_c2f(request);
}
#endif

}  // namespace gradcoll
