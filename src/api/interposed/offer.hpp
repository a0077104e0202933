// api/interposed/offer.hpp - a call of an unchanged program that the interposer offers: served, or
// passed to the MPI library, with a reason that all ranks share.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "api/edge/boundary.hpp"
#include "api/edge/request.hpp"
#include "report/report.hpp"

namespace gradcoll {

/// What is offered.
struct OfferedCall {
    CallKind kind = CallKind::allreduce;
    ReduceArguments arguments;  ///< of an allgather: the receive side
    const char* name = "";      ///< for errors: "MPI_Allreduce (served by gradcoll)"
    bool in_blocks = false;     ///< the count is one rank's block
};

/// How an offer ended.
struct Offer {
    PassReason pass_reason = PassReason::none;  ///< none: served
    Outcome outcome{Status()};                  ///< of a served call

    static Offer passed(PassReason reason) { return {reason, Status()}; }
    static Offer served(Outcome outcome) { return {PassReason::none, std::move(outcome)}; }
};

/// Before anything else: a reason to pass the call whatever it is, or none.
PassReason reason_to_pass(const OfferedCall& call);
void count_passed(const OfferedCall& call, PassReason reason);

/// Runs `body` (returning Offer). Returns 1 and the code if the call was served, with the error
/// handler called where it failed; else 0.
template <class Body>
int at_offer(const OfferedCall& call, int* code, Body&& body) noexcept {
    try {
        if (!mpi_is_running()) return 0;
        const PassReason early = reason_to_pass(call);
        const Offer offer = early != PassReason::none ? Offer::passed(early) : body();
        if (offer.pass_reason != PassReason::none) {
            count_passed(call, offer.pass_reason);
            return 0;
        }
        *code = offer.outcome.status.ok()
                    ? offer.outcome.mpi_code
                    : raise_error(call.arguments.comm, call.name, offer.outcome);
    } catch (...) {  // the other ranks are inside: passing now would keep them waiting
        *code = raise_error(call.arguments.comm, call.name, status_of_current_exception());
    }
    return 1;
}

// ---- an input that lies in the output without MPI_IN_PLACE: the standard forbids it and programs
// do it; only this rank knows, so that the other ranks must not depend on it.

/// What became of the input.
struct SettledInput {
    /// The MPI library raises an error for this on this rank alone, as it would without us.
    PassReason pass_reason = PassReason::none;
    const void* sendbuf = nullptr;  ///< the caller's, MPI_IN_PLACE, or `copy`
    std::unique_ptr<std::byte[]> copy;

    bool passes() const { return pass_reason != PassReason::none; }
};

/// `in_place_address`: where an input in place would lie in `receive`. An input of no bytes is
/// taken as it is. `mpi_takes_it`: whether this call of the MPI library takes an input there.
SettledInput settle_input(const BufferArgument& send, const BufferArgument& receive,
                          const void* in_place_address,
                          bool mpi_takes_it = mpi_takes_aliased_buffers);

}  // namespace gradcoll
