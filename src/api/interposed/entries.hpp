// api/interposed/entries.hpp - the entries of the interposer's table (base/interposer_table.h) that
// serve calls, and its arguments as ours.
#pragma once

#include <cstddef>

#include "base/interposer_handle.hpp"
#include "base/interposer_table.h"
#include "mpi/request.hpp"

namespace gradcoll {

int offer_allreduce(const GC_Reduce_call* call, GC_Passed_call* passed, int* code) noexcept;
int offer_iallreduce(const GC_Reduce_call* call, GC_Passed_call* passed, void* request,
                     int* code) noexcept;
int offer_reduce_scatter_block(const GC_Reduce_call* call, int* code) noexcept;
int offer_reduce_scatter(const GC_Reduce_call* call, const void* recvcounts,
                         std::size_t count_bytes, int* code) noexcept;
int offer_allgather(const GC_Gather_call* call, int* code) noexcept;
int offer_barrier(GC_Mpi_handle comm, int* code) noexcept;
int offer_bcast(const GC_Bcast_call* call, int* code) noexcept;
int offer_reduce(const GC_Reduce_call* call, int root, int* code) noexcept;

// persistent.cpp has MPI_Allreduce_init, and the starts and the end of such requests.
int offer_allreduce_init(const GC_Reduce_call* call, GC_Mpi_handle info, void* request,
                         int* code) noexcept;
/// Begins the operations of `count` requests; called after MPI has started them.
void requests_started(int count, const void* handles) noexcept;
/// Forgets a request; called before MPI frees it.
void request_freeing(const void* handle) noexcept;

// new_info.cpp has info objects that the program has put on a communicator, or makes one with.
void info_was_set(GC_Mpi_handle comm, GC_Mpi_handle info) noexcept;
void dup_begins(GC_Mpi_handle comm, GC_Mpi_handle info) noexcept;
void dup_has_begun(GC_Mpi_handle comm) noexcept;

inline CallArguments arguments_of(const GC_Reduce_call& call) {
    return {call.sendbuf,
            call.recvbuf,
            call.count,
            handle_of<MPI_Datatype>(call.datatype),
            handle_of<MPI_Op>(call.op),
            handle_of<MPI_Comm>(call.comm)};
}

inline CallArguments arguments_of(const GC_Gather_call& call) {
    return {call.sendbuf,   call.recvbuf,
            call.recvcount, handle_of<MPI_Datatype>(call.recvtype),
            MPI_OP_NULL,    handle_of<MPI_Comm>(call.comm),
            call.sendcount, handle_of<MPI_Datatype>(call.sendtype)};
}

inline Status check_request(const void* request) {
    return request != nullptr ? Status()
                              : Status(Code::invalid_argument, "request is a null pointer");
}

}  // namespace gradcoll
