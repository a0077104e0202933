// api/interposed/entries.hpp - the entries of the interposer's table (base/interposer_table.h) that
// serve calls, and its arguments as ours.
#pragma once

#include <array>
#include <cstddef>

#include "base/call_kind.hpp"
#include "base/interposer_handle.hpp"
#include "base/interposer_table.h"
#include "mpi/request.hpp"

namespace gradcoll {

/// Serves or passes a call of the kind, which unchanged programs make.
template <CallKind kind>
int offer_call(const GC_Call* call, int* code) noexcept;
using CallOffer = int (*)(const GC_Call* call, int* code);
/// Has one for each kind; null for those that no function of MPI makes.
extern const std::array<CallOffer, call_kind_count> offers;
/// persistent.cpp has this one, and the starts and the end of such requests.
template <>
int offer_call<CallKind::allreduce_init>(const GC_Call* call, int* code) noexcept;
/// Begins the operations of `count` requests; called after MPI has started them.
void requests_started(int count, const void* handles) noexcept;
/// Forgets a request; called before MPI frees it.
void request_freeing(const void* handle) noexcept;

// new_info.cpp has info objects that the program has put on a communicator, or makes one with.
void info_was_set(GC_Mpi_handle comm, GC_Mpi_handle info) noexcept;
void dup_begins(GC_Mpi_handle comm, GC_Mpi_handle info) noexcept;
void dup_has_begun(GC_Mpi_handle comm) noexcept;

/// tool_variables.cpp has what tools read of calls on a communicator.
extern const GC_Tool_variables tool_variables;

inline CallArguments arguments_of(CallKind kind, const GC_Call& call) {
    CallArguments a;
    a.sendbuf = has(kind, CallTrait::from_root) ? MPI_IN_PLACE : call.sendbuf;
    a.recvbuf = call.recvbuf;
    a.count = call.count;
    if (!has(kind, CallTrait::no_buffers)) a.datatype = handle_of<MPI_Datatype>(call.datatype);
    if (has(kind, CallTrait::reduces)) a.op = handle_of<MPI_Op>(call.op);
    a.comm = handle_of<MPI_Comm>(call.comm);
    a.root = call.root;
    if (!gathers(kind)) return a;
    a.sendcount = call.sendcount;
    a.sendtype = handle_of<MPI_Datatype>(call.sendtype);
    return a;
}

inline Status check_request(const void* request) {
    return request != nullptr ? Status()
                              : Status(Code::invalid_argument, "request is a null pointer");
}

}  // namespace gradcoll
