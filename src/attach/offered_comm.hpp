// attach/offered_comm.hpp - the context of a communicator that an unchanged program makes calls
// on.
#pragma once

#include <cstdint>
#include <memory>

#include "attach/attachments.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Whether the process has said nothing against shared memory in place of a tree.
bool one_host_is_allowed();

/// The same, whatever was said of the tree: ranks of one of several hosts may share theirs.
bool shared_memory_is_allowed();

/// Why a call that only one host's memory serves passes, if its communicator's do for this reason:
/// it is never too short.
inline PassReason of_one_host(PassReason of_comm) {
    return of_comm == PassReason::short_vector ? PassReason::needs_one_host : of_comm;
}

/// What the short ways of offered calls start from: one question to MPI at a communicator's first
/// call, none at later ones. Local.
SeenComm comm_for_short_way(MPI_Comm comm);

/// Whether the account of a communicator has reached what the rank asks that has lost most by
/// attaching so far. Gives up if one of them has attached enough. Collective, once for a
/// communicator: at the call that would pay the first price.
bool is_paid_on_all(MPI_Comm comm, Prospect& prospect);

/// What a call brings to the question whether its communicator is worth attaching.
struct OfferedSize {
    std::uint64_t bytes = 0;    ///< of the whole vector
    bool may_be_lossy = false;  ///< the settings of the process compress its kind, type and op
    bool may_attach = false;    ///< blocking: attaching waits for other ranks
    bool is_compared = false;   ///< with those of other ranks: worth it whatever its size
    /// Blocking and exact: shared memory of one host would serve it, if the communicator has that.
    bool fits_one_host = false;
    bool needs_one_host = false;  ///< and nothing else would: no tree is made for it
};

/// Why ranks of an intracommunicator must not do anything together that the program does not do;
/// none: it is attached, or all have answered alike (roll_call.hpp).
PassReason reason_not_to_ask(MPI_Comm comm);

/// The context of a communicator (not null) whose calls may be served; attaches it if the call is
/// worth it. Without one `pass_reason` says why. Collective only where `size.may_attach`.
struct OfferedComm {
    std::shared_ptr<CommContext> context;
    PassReason pass_reason = PassReason::none;

    bool passes() const { return pass_reason != PassReason::none; }
};
OfferedComm comm_for_offer(MPI_Comm comm, const OfferedSize& size);
/// The same for a communicator whose info has gc_* keys: attached whatever the size of its calls.
/// If it is attached just now, the caller takes all its info.
OfferedComm comm_for_info(MPI_Comm comm, bool& attached_now);

}  // namespace gradcoll
