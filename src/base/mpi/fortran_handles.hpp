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
inline int number_of_comm(MPI_Comm comm) {
    return PMPI_Comm_toint(comm);
}
inline int number_of_datatype(MPI_Datatype datatype) {
    return PMPI_Type_toint(datatype);
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
inline int number_of_comm(MPI_Comm comm) {
    return PMPI_Comm_c2f(comm);
}
inline int number_of_datatype(MPI_Datatype datatype) {
    return PMPI_Type_c2f(datatype);
}
#endif

}  // namespace gradcoll
