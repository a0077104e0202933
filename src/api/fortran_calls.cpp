// What include/gradcoll/gradcoll.f90 calls: GC_ calls whose handles of MPI are Fortran's numbers.
// Calls without such handles it binds to directly. No header declares these: the module does.
#include "base/mpi/fortran_handles.hpp"
#include "gradcoll/gradcoll.h"
#include "mpi/boundary.hpp"

using namespace gradcoll;

/// Returns the address that means MPI_IN_PLACE to C; Fortran's is that of a variable.
extern "C" const void* GC_Fortran_in_place(void) {
    return MPI_IN_PLACE;
}

/// Raises the error of a buffer that Fortran passes with gaps.
extern "C" int GC_Fortran_not_contiguous(int comm) {
    return at_boundary(comm_of_number(comm), "use gradcoll", [] {
        return Status(Code::invalid_buffer,
                      "a buffer is an array section with gaps; allowed are contiguous ones");
    });
}

extern "C" int GC_Fortran_allreduce(const void* sendbuf, void* recvbuf, long long count,
                                    int datatype, int op, int comm) {
    return GC_Allreduce_c(sendbuf, recvbuf, count, datatype_of_number(datatype), op_of_number(op),
                          comm_of_number(comm));
}

extern "C" int GC_Fortran_allreduce_residual(const void* sendbuf, void* recvbuf, long long count,
                                             int datatype, int op, int comm, GC_Residual residual) {
    return GC_Allreduce_residual(sendbuf, recvbuf, count, datatype_of_number(datatype),
                                 op_of_number(op), comm_of_number(comm), residual);
}

/// `request` is set only if the call succeeds.
extern "C" int GC_Fortran_iallreduce(const void* sendbuf, void* recvbuf, long long count,
                                     int datatype, int op, int comm, int* request) {
    MPI_Request started = MPI_REQUEST_NULL;
    const int code = GC_Iallreduce_c(sendbuf, recvbuf, count, datatype_of_number(datatype),
                                     op_of_number(op), comm_of_number(comm), &started);
    if (code == MPI_SUCCESS) *request = number_of(started);
    return code;
}

extern "C" int GC_Fortran_reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                               int datatype, int op, int comm) {
    return GC_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype_of_number(datatype),
                                   op_of_number(op), comm_of_number(comm));
}

extern "C" int GC_Fortran_allgather(const void* sendbuf, void* recvbuf, int sendcount, int sendtype,
                                    int recvcount, int recvtype, int comm) {
    return GC_Allgather(sendbuf, sendcount, datatype_of_number(sendtype), recvbuf, recvcount,
                        datatype_of_number(recvtype), comm_of_number(comm));
}

extern "C" int GC_Fortran_allreduce_init(const void* sendbuf, void* recvbuf, long long count,
                                         int datatype, int op, int comm, int info,
                                         GC_Request* request) {
    return GC_Allreduce_init(sendbuf, recvbuf, count, datatype_of_number(datatype),
                             op_of_number(op), comm_of_number(comm), info_of_number(info), request);
}

extern "C" int GC_Fortran_residual_create(int comm, long long count, int datatype,
                                          GC_Residual* residual) {
    return GC_Residual_create(comm_of_number(comm), count, datatype_of_number(datatype), residual);
}

extern "C" int GC_Fortran_residual_create_for_blocks(int comm, long long recvcount, int datatype,
                                                     GC_Residual* residual) {
    return GC_Residual_create_for_blocks(comm_of_number(comm), recvcount,
                                         datatype_of_number(datatype), residual);
}

extern "C" int GC_Fortran_reduce_scatter_block_residual(const void* sendbuf, void* recvbuf,
                                                        long long recvcount, int datatype, int op,
                                                        int comm, GC_Residual residual) {
    return GC_Reduce_scatter_block_residual(sendbuf, recvbuf, recvcount,
                                            datatype_of_number(datatype), op_of_number(op),
                                            comm_of_number(comm), residual);
}

extern "C" int GC_Fortran_accumulate(const void* const inputs[], int input_count, void* output,
                                     long long count, int datatype, int op) {
    return GC_Accumulate(inputs, input_count, output, count, datatype_of_number(datatype),
                         op_of_number(op));
}

/// `newcomm` becomes the number of MPI_COMM_NULL if the call fails.
extern "C" int GC_Fortran_comm_shrink(int comm, int* newcomm) {
    MPI_Comm made = MPI_COMM_NULL;
    const int code = GC_Comm_shrink(comm_of_number(comm), &made);
    *newcomm = number_of_comm(made);
    return code;
}

extern "C" int GC_Fortran_comm_set_stream(int comm, void* stream) {
    return GC_Comm_set_stream(comm_of_number(comm), stream);
}

extern "C" int GC_Fortran_type_float16(void) {
    return number_of_datatype(GC_Type_float16());
}

extern "C" int GC_Fortran_type_bfloat16(void) {
    return number_of_datatype(GC_Type_bfloat16());
}

extern "C" int GC_Fortran_comm_attach(int comm) {
    return GC_Comm_attach(comm_of_number(comm));
}

extern "C" int GC_Fortran_comm_set_codec(int comm, const char* codec) {
    return GC_Comm_set_codec(comm_of_number(comm), codec);
}

extern "C" int GC_Fortran_comm_set_schedule(int comm, const char* schedule) {
    return GC_Comm_set_schedule(comm_of_number(comm), schedule);
}

extern "C" int GC_Fortran_step(int comm, long long step) {
    return GC_Step(comm_of_number(comm), step);
}

extern "C" int GC_Fortran_comm_set_option(int comm, const char* key, const char* value) {
    return GC_Comm_set_option(comm_of_number(comm), key, value);
}

extern "C" int GC_Fortran_comm_set_info(int comm, int info) {
    return GC_Comm_set_info(comm_of_number(comm), info_of_number(info));
}

extern "C" int GC_Fortran_comm_get_option(int comm, const char* key, char* value, int size,
                                          int* length) {
    return GC_Comm_get_option(comm_of_number(comm), key, value, size, length);
}

extern "C" int GC_Fortran_engine_create(int comm, int info, GC_Engine* engine) {
    return GC_Engine_create(comm_of_number(comm), info_of_number(info), engine);
}

extern "C" int GC_Fortran_submit(GC_Engine engine, const char* name, const void* sendbuf,
                                 void* recvbuf, long long count, int datatype, int op, int priority,
                                 GC_Handle* handle) {
    return GC_Submit(engine, name, sendbuf, recvbuf, count, datatype_of_number(datatype),
                     op_of_number(op), priority, handle);
}

extern "C" int GC_Fortran_engine_reconfigure(GC_Engine engine, int newcomm) {
    return GC_Engine_reconfigure(engine, comm_of_number(newcomm));
}

extern "C" int GC_Fortran_engine_get_residual(GC_Engine engine, const char* name, long long count,
                                              int datatype, GC_Residual* residual) {
    return GC_Engine_get_residual(engine, name, count, datatype_of_number(datatype), residual);
}
