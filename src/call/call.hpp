// call/call.hpp - one call in our types, admitted once and in one order, whoever makes it:
// check, classify, locate memory, find the communicator, compare claims, route
// (docs/decisions/012-one-way-in.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "comm/agreement.hpp"
#include "gradcoll/residual.h"
#include "mpi/request.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Entry says how a call comes in.
struct Entry {
    CallKind kind = CallKind::allreduce;  ///< which arguments it has, and where it may go
    const char* name = "";                ///< static text, for claims and errors
    Reach reach = Reach::host;
    /// The interposer hands it in for an unchanged program: what is wrong with the call is then a
    /// reason to pass it, its communicator is attached if that is worth it, and its buffers may
    /// overlap.
    bool offered = false;
    bool with_residual = false;
    /// Nothing but the shared memory of one host serves it.
    bool needs_one_host = has(kind, CallTrait::only_one_host);
    /// It says whether the MPI library takes one buffer for input and result of an offered call.
    bool mpi_takes_aliased = mpi_takes_aliased_buffers;

    GC_Residual residual = nullptr;
    /// MPI_Reduce_scatter sets these: a hash of the sizes of its blocks if they differ, and their
    /// sum.
    std::optional<std::uint64_t> unequal_blocks = {};
    std::optional<MPI_Count> whole_count = {};
    CallKind counted_as = kind;

    /// Returns null for calls without a residual.
    Residual* residual_values() const;
    /// Returns whether it is routed at each start.
    bool sets_up() const { return has(kind, CallTrait::sets_up); }
    /// Returns whether it may wait for other ranks, so that it attaches and compares claims.
    bool may_wait() const { return has(kind, CallTrait::waits | CallTrait::sets_up); }
};

/// A CopiedInput is a copy, in host memory, of an input that overlapped the output.
struct CopiedInput {
    std::unique_ptr<std::byte[]> bytes;  ///< null: the call needs none
    std::size_t size_bytes = 0;
    const void* from = nullptr;
    int memory = host_memory;  ///< the memory that `from` is in (CallMemory)

    /// Copies the input anew. Errors: those of devices.
    Status fill(CommContext& context) const;
};

/// Call is what admit() makes of a call: an error, a reason to pass it to the MPI library, or all
/// that serving it needs. Every rank gets the same except for its own memory and buffers, which it
/// alone knows.
struct Call {
    Call() = default;
    Call(const Entry& by, const CallArguments& given) : entry(&by), arguments(given) {}
    bool passes() const { return pass_reason != PassReason::none; }

    const Entry* entry = nullptr;  ///< outlives it
    CallArguments arguments;       ///< if it is served, its buffers do not overlap
    Status error;                  ///< if it is not ok, only it and `refusal` count
    /// If it is not ok, only this rank's buffers are wrong, and the other ranks go where `route`
    /// says and wait. They have to be told (refuse_call()), whatever becomes of the call here.
    Status refusal;
    PassReason pass_reason = PassReason::none;

    CallShape shape;  ///< that of the whole vector
    CallMemory memory;
    std::shared_ptr<CommContext> context;  ///< null if its communicator has none
    CallTimer timer;                       ///< runs from here to the end of calls of the GC_ API
    /// It is a reduction of a single rank: the input is the result, and there is no route.
    bool alone = false;
    Route route;
    CopiedInput copy;  ///< `arguments` name it
};

/// Admits a call. `complaint` is what its entry found wrong with arguments that only it has.
/// Attaches the communicator if the entry does; then, and with gc_check=collective, it is
/// collective. Allocates and locks nothing on a communicator that is attached, except for a copy of
/// an input that overlaps the output, and with gc_check=collective.
Call admit(const Entry& entry, const CallArguments& arguments, Status complaint = {});

/// Returns what ranks compare of their calls (gc_check=collective): as many claims for every kind
/// of call, as ranks may have made different ones. `complaint` is what this rank found wrong with
/// its arguments; `aliased` is why the MPI library would refuse its buffers, which are one.
std::vector<Claim> claims_of(const Call& call, const Status& complaint, PassReason aliased);
/// Returns what ranks that set up a request must have alike. Datatypes and ops are compared by what
/// they mean, as a datatype has many names.
std::vector<Claim> request_claims(const Call& call);
/// Checks that all ranks have the same request_claims() and find the arguments of their call right;
/// `mine` is what this rank found. Collective. Errors, on every rank: invalid_argument, naming a
/// rank that differs or whose arguments are wrong, and why.
Status agree_on_arguments(const Call& call, const Status& mine);

/// Counts a call that passes; `context` is null if its communicator has none.
void count_passed(CommContext* context, const Entry& entry, const CallArguments& arguments,
                  PassReason reason);
/// Counts a call that passes; one on the null communicator is not counted.
void count_passed(const Call& call);

}  // namespace gradcoll
