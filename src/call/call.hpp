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

/// How a call comes in.
struct Entry {
    Collective collective = Collective::allreduce;
    CallKind kind = CallKind::allreduce;  ///< what it is counted as
    const char* name = "";                ///< static text, for claims and errors
    Reach reach = Reach::host;
    /// By the interposer, for an unchanged program: what is wrong with a call is a reason to pass
    /// it, its communicator is attached if that is worth it, and its buffers may overlap.
    bool offered = false;
    bool may_wait = true;     ///< for other ranks: it attaches, and compares claims
    bool persistent = false;  ///< routed at each start
    bool with_residual = false;
    bool needs_one_host = false;  ///< nothing but the shared memory of one host serves it
    /// Of an offered call: whether the MPI library takes one buffer for input and result.
    bool mpi_takes_aliased = mpi_takes_aliased_buffers;

    GC_Residual residual = nullptr;
    /// Of MPI_Reduce_scatter: a hash of the sizes of its blocks if they differ, and their sum.
    std::optional<std::uint64_t> unequal_blocks = {};
    std::optional<MPI_Count> whole_count = {};
};

/// What became of it: an error, a reason to pass it to the MPI library, or all that serving it
/// needs. Every rank gets the same but for what only it knows: its memory and its buffers.
struct Call {
    Call() = default;
    Call(const Entry& by, const CallArguments& given) : entry(&by), arguments(given) {}
    bool passes() const { return pass_reason != PassReason::none; }

    const Entry* entry = nullptr;  ///< outlives it
    CallArguments arguments;       ///< if it is served: its buffers do not overlap
    Status error;                  ///< not ok: this, and nothing else but the next
    /// Not ok: this rank's buffers alone are wrong, and the others go where `route` says, and wait:
    /// they are to be told (refuse_call()), whatever becomes of the call here.
    Status refusal;
    PassReason pass_reason = PassReason::none;

    CallShape shape;  ///< of the whole vector
    CallMemory memory;
    std::shared_ptr<CommContext> context;  ///< null if its communicator has none
    CallTimer timer;                       ///< of calls of ours from here to their end
    bool alone = false;  ///< a reduction of a single rank: the input is the result, no route
    Route route;
    std::unique_ptr<std::byte[]> copy;  ///< of an input that overlapped; `arguments` names it
};

/// Admits a call. `complaint`: what its entry found wrong with arguments that only it has.
/// Attaches the communicator if the entry does; then, and with gc_check=collective, it is
/// collective. Allocates and locks nothing on a communicator that is attached, but for a copy of an
/// input that overlaps the output, and with gc_check=collective.
Call admit(const Entry& entry, const CallArguments& arguments, Status complaint = {});

/// What ranks that set a request up must have alike, by what they mean: a datatype has many names.
std::vector<Claim> request_claims(const Call& call);
/// Whether all ranks have these alike and find the arguments of their call right, of which `mine`
/// is this one's finding. Collective. Errors, on every rank: invalid_argument, naming a rank that
/// differs or does not, and why.
Status agree_on_arguments(const Call& call, const Status& mine);

/// Counts a call that passes; `context` is null if its communicator has none.
void count_passed(CommContext* context, const Entry& entry, const CallArguments& arguments,
                  PassReason reason);
/// The same of a call that passes; on the null communicator nothing is counted.
void count_passed(const Call& call);

}  // namespace gradcoll
