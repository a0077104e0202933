// api/interposed/offer.hpp - a call of an unchanged program that the interposer offers: served, or
// passed to the MPI library, with a reason that all ranks share.
#pragma once

#include <optional>
#include <utility>

#include "attach/presence.hpp"
#include "call/blocking.hpp"
#include "call/cached_call.hpp"
#include "call/call.hpp"
#include "mpi/boundary.hpp"

namespace gradcoll {

/// Lets the ranks of a communicator meet if they have not (presence.hpp). This comes first in
/// calls that no rank leaves before all have come. In a call of no elements (`count`) no rank waits
/// for another, so they do not meet.
void meet(MPI_Comm comm) noexcept;
inline void meet_before(MPI_Comm comm, MPI_Count count) noexcept {
    if (meetings_are_wanted() && count > 0) meet(comm);
}

/// Returns the entry of unchanged programs' calls of a kind. In their allreduces alone Open MPI
/// refuses one buffer for input and result.
constexpr Entry offered_entry(CallKind kind) {
    Entry entry{.kind = kind,
                .name = row_of(kind).offered_name,
                .reach = Reach::host_and_devices,
                .offered = true};
    if (kind == CallKind::allreduce || kind == CallKind::iallreduce)
        entry.mpi_takes_aliased = false;
    return entry;
}

/// Returns why every call of this kind on this communicator passes, whatever its arguments are.
PassReason reason_to_pass(const Entry& entry, MPI_Comm comm);

/// Does what admit() does, unless there is a reason to pass the call whatever it is.
Call admit_offer(const Entry& entry, const CallArguments& arguments, Status complaint);

/// Does the call by `run(status)` (returning Shortcut), unless it passes whatever it is. Sets
/// `code` if the call was served, and calls the error handler if it failed.
template <class Run>
Shortcut offer_cached(const Entry& entry, MPI_Comm comm, int* code, Run&& run) noexcept {
    try {
        Status status;
        if (!mpi_is_running() || reason_to_pass(entry, comm) != PassReason::none)
            return Shortcut::no;
        const Shortcut known = run(status);
        if (known == Shortcut::served)
            *code = status.ok() ? MPI_SUCCESS : raise_error(comm, entry.name, status);
        return known;
    } catch (...) {  // the other ranks are inside
        *code = raise_error(comm, entry.name, status_of_current_exception());
        return Shortcut::served;
    }
}

/// Does nothing: the program makes the calls that pass.
inline std::optional<Outcome> leave_to_program(const Call&) {
    return {};
}

/// Admits the call and lets `serve` (taking Call&, returning Outcome) do it; that may still find a
/// reason to pass it. `pass` (taking const Call&, returning std::optional<Outcome>) may do a call
/// that passes in the program's stead. Returns 1 and the code if the call was served, and calls the
/// error handler if it failed; else returns 0.
template <class Serve, class Pass = decltype(&leave_to_program)>
int at_offer(const Entry& entry, const CallArguments& arguments, Status complaint, int* code,
             Serve&& serve, Pass&& pass = leave_to_program) noexcept {
    try {
        if (!mpi_is_running()) return 0;
        Call call = admit_offer(entry, arguments, std::move(complaint));
        if (!call.refusal.ok()) refuse_call(call, call.refusal);
        if (call.error.ok()) cache_call(call);
        Outcome outcome = call.error;
        if (call.error.ok() && !call.passes()) outcome = serve(call);
        if (call.error.ok() && call.passes()) {
            count_passed(call);
            const std::optional<Outcome> passed = pass(call);
            if (!passed) return 0;
            outcome = *passed;
        }
        *code = outcome.status.ok() ? outcome.mpi_code
                                    : raise_error(arguments.comm, entry.name, outcome);
    } catch (...) {  // the other ranks are inside: passing now would keep them waiting
        *code = raise_error(arguments.comm, entry.name, status_of_current_exception());
    }
    return 1;
}

}  // namespace gradcoll
