// api/interposed/offer.hpp - a call of an unchanged program that the interposer offers: served, or
// left to the MPI library, with a reason that all ranks share.
#pragma once

#include <cstdint>
#include <memory>

#include "api/comm/comm_context.hpp"
#include "api/edge/boundary.hpp"
#include "api/edge/request.hpp"
#include "base/interposer_table.h"

namespace gradcoll {

/// What is offered.
struct OfferedCall {
    CallKind kind = CallKind::allreduce;
    ReduceArguments arguments;  ///< of an allgather: the receive side
    const char* name = "";      ///< for errors: "MPI_Allreduce (served by gradcoll)"
    bool in_blocks = false;     ///< the count is one rank's block
};

/// What MPI makes an error of: it raises it itself.
inline constexpr const char* wrong_arguments = "wrong arguments are for the MPI library to refuse";
/// Null, or memory of a GPU, which the MPI library may reach.
inline constexpr const char* unusable_buffer = "a buffer is null or in the memory of a GPU";

/// How an offer ended.
struct Offer {
    const char* left_because = nullptr;  ///< static text; null: served
    Outcome outcome{Status()};           ///< of a served call

    static Offer left(const char* reason) { return {reason, Status()}; }
    static Offer served(Outcome outcome) { return {nullptr, std::move(outcome)}; }
};

/// What a call brings to the question whether its communicator is worth attaching.
struct OfferedSize {
    std::uint64_t bytes = 0;    ///< of the whole vector
    bool may_be_lossy = false;  ///< the settings of the process compress its kind, type and op
    bool may_attach = false;    ///< blocking: attaching waits for other ranks
};

/// The context of a communicator (not null) whose calls may be served; attaches it if the call is
/// worth it. Without one `left_because` says why. Collective only where `size.may_attach`.
struct OfferedComm {
    std::shared_ptr<CommContext> context;
    const char* left_because = nullptr;
};
OfferedComm comm_for_offer(MPI_Comm comm, const OfferedSize& size);
/// The same for a communicator whose info has gc_* keys: attached whatever the size of its calls.
/// If it is attached just now, the caller takes all its info.
OfferedComm comm_for_info(MPI_Comm comm, bool& attached_now);

/// The settings of this process (file, environment, defaults).
const Settings& process_settings();

/// Before anything else: a reason to leave the call whatever it is, or null.
const char* reason_to_leave(const OfferedCall& call);
/// Counts a call that was left.
void count_left(const OfferedCall& call, const char* reason);

/// Runs `body` (returning Offer). Returns 1 and the code if the call was served, with the error
/// handler called where it failed; else 0.
template <class Body>
int at_offer(const OfferedCall& call, int* code, Body&& body) noexcept {
    try {
        if (!mpi_is_running()) return 0;
        const char* const early = reason_to_leave(call);
        const Offer offer = early != nullptr ? Offer::left(early) : body();
        if (offer.left_because != nullptr) {
            count_left(call, offer.left_because);
            return 0;
        }
        *code = offer.outcome.status.ok()
                    ? offer.outcome.mpi_code
                    : raise_error(call.arguments.comm, call.name, offer.outcome);
    } catch (...) {  // the other ranks are inside: leaving now would keep them waiting
        *code = raise_error(call.arguments.comm, call.name, status_of_current_exception());
    }
    return 1;
}

}  // namespace gradcoll
