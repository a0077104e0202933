// attach/offered_comm.hpp - the context of a communicator that an unchanged program makes calls
// on.
#pragma once

#include <cstdint>
#include <memory>

#include "attach/attachments.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Returns whether the process has said nothing against shared memory in place of a tree.
bool one_host_is_allowed();

/// Returns whether shared memory is allowed whatever was said of the tree: ranks of one of several
/// hosts may share theirs.
bool shared_memory_is_allowed();

/// Returns why a call passes that only one host's memory serves, if the calls of its communicator
/// pass for the reason `of_comm`: it is never too short.
inline PassReason of_one_host(PassReason of_comm) {
    return of_comm == PassReason::short_vector ? PassReason::needs_one_host : of_comm;
}

/// Returns what the short ways of offered calls start from. It asks MPI once at a communicator's
/// first call, and not at later ones. Nothing is seen of one on which info waits. Local.
SeenComm comm_for_short_way(MPI_Comm comm);

/// Returns whether the account of a communicator has reached the highest price that one of its
/// ranks asks: that of the rank which has lost most by attaching so far. Gives up if one of them
/// has attached enough, or has met memory of devices that only its MPI library reaches. Collective,
/// once for a communicator: at the call that would pay the first price.
bool is_paid_on_all(MPI_Comm comm, AttachAccount& account);

/// Lets the ranks of a communicator meet (wait_meeting.hpp) whose account a call that must not wait
/// has paid; attaches the communicator when they have. Such a call comes here on every rank.
void attach_when_all_wait(MPI_Comm comm, AttachAccount& account);

/// OfferedSize is what decides whether a call makes its communicator worth attaching.
struct OfferedSize {
    std::uint64_t bytes = 0;    ///< size of the whole vector
    bool may_be_lossy = false;  ///< whether the settings of the process compress its kind, type and
                                ///< op
    bool may_attach = false;    ///< whether it is blocking: attaching waits for other ranks
    bool is_compared = false;   ///< whether it is compared across ranks: then it is worth it
                                ///< whatever its size
    /// This is set if the call is blocking and exact: shared memory of one host would serve it, if
    /// the communicator has that.
    bool fits_one_host = false;
    bool is_started = false;      ///< whether it is nonblocking on every rank
    bool needs_one_host = false;  ///< whether nothing else would serve it: no tree is made for it
};

/// Returns why ranks of an intracommunicator must not do anything together that the program does
/// not do; none if it is attached, or all have answered alike (presence.hpp).
PassReason reason_not_to_ask(MPI_Comm comm);

/// An OfferedComm is the context of a communicator (not null) whose calls may be served; without
/// one `pass_reason` says why. comm_for_offer() attaches the communicator if the call is worth it;
/// it is collective only where `size.may_attach`.
struct OfferedComm {
    std::shared_ptr<CommContext> context;
    PassReason pass_reason = PassReason::none;

    bool passes() const { return pass_reason != PassReason::none; }
};
OfferedComm comm_for_offer(MPI_Comm comm, const OfferedSize& size);
/// Takes the info that waits on the communicator (comm_info.hpp), if any does. Collective.
void take_info_that_waits(MPI_Comm comm);
/// Returns whether a reduction on the communicator is one of a single rank that is to be rounded as
/// that of many is (gc_reproducible=anywhere). `offered`: it is an unchanged program's call, and
/// info may wait on the communicator.
bool rounds_alone(MPI_Comm comm, bool offered);
/// Takes the gc_* keys of `info`, which the program has put on the communicator or made it with. If
/// any rank has some the communicator is attached, whatever the size of its calls. Ranks ask each
/// other only on communicators that can ever use settings. Collective. Errors: transport.
Status take_new_info(MPI_Comm comm, MPI_Info info);

}  // namespace gradcoll
