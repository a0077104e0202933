// attach/attachments.hpp - how a context hangs on its communicator: an MPI attribute, freed with
// the communicator or in MPI_Finalize.
#pragma once

#include <cstdint>
#include <memory>

#include "attach/attach_account.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Returns the number of ranks of an intracommunicator (not null); 0 for an intercommunicator,
/// where blocks are counted otherwise.
int rank_count_of(MPI_Comm comm);

/// Returns the context of an attached communicator; null if it is not attached. Local; thread safe.
Result<std::shared_ptr<CommContext>> attached_context(MPI_Comm comm);
/// Returns the context of a communicator, and attaches it first if need be, which is collective.
/// Returns null for intercommunicators, which are never attached, for one that is being freed, and
/// once MPI_Finalize has begun.
Result<std::shared_ptr<CommContext>> context_of(MPI_Comm comm);

/// SeenComm is what this thread knows of a communicator without a question to MPI, because it has
/// asked before: the context, or else the account. Both are null for others, and once any
/// communicator has lost its attachment since. Valid while the communicator is.
struct SeenComm {
    CommContext* context = nullptr;
    AttachAccount* account = nullptr;

    bool is_nothing() const { return context == nullptr && account == nullptr; }
};
SeenComm seen_comm(MPI_Comm comm);
/// Does what seen_comm() does, but asks MPI about a communicator that this thread has not seen. One
/// where nothing hangs gets an account if it `may_be_attached_by_use` and has several ranks. Local.
SeenComm known_comm(MPI_Comm comm, bool may_be_attached_by_use);

/// Makes all threads forget what they have seen, so that they ask MPI again. Thread safe.
void forget_seen();

/// Returns what the interposer is told of an allreduce that has passed for the sake of its
/// communicator's account, so that it can let others pass by itself.
GC_Passed_call passed_call(const CallArguments& arguments, AttachAccount& account,
                           const KindOfCall& kind);

/// Returns the account of a communicator that is not attached; null if it is attached or being
/// freed, and once MPI_Finalize has begun. Local.
Result<AttachAccount*> account_of(MPI_Comm comm);

/// Parts says what of a context is made at once.
enum class Parts : std::uint8_t {
    all,
    tree_between_hosts,  ///< no tree if all ranks are on one host: its memory may do
    without_tree         ///< no tree, and no context if no ranks share memory
};

/// Makes a context with the settings of the process alone and hangs it on `comm`, an
/// intracommunicator of a program that does not know of this library. Warns once if these have a
/// schedule that nothing advances. Null, and nothing hangs there, if there is to be no tree and
/// ranks are on several hosts. `own` is what the context has for its own communicator; if it has
/// none, a duplicate is made. Collective. Errors: those of CommContext::make.
Result<std::shared_ptr<CommContext>> attach_without_info(MPI_Comm comm, Parts parts,
                                                         PrivateComm own = {});

/// Attaches `comm`, which has some of the ranks of the communicator that `old` was made for, with
/// the settings and the step of that; a tree that names ranks is left, with a line, and found anew.
/// Collective over `comm`. Errors: those of CommContext::make.
Status attach_like(MPI_Comm comm, const CommContext& old);

/// Returns the settings that attach_like() has. Says in a line that a tree is left.
SettingsWish wish_like(MPI_Comm comm, const CommContext& old);

/// Marks the communicator as one that could not be attached. Local.
Status refuse(MPI_Comm comm);
/// Returns why the communicator is not to be attached; none if nothing speaks against it. It cannot
/// be attached either if it is being freed, or once MPI_Finalize has begun.
Result<PassReason> refusal_of(MPI_Comm comm);

}  // namespace gradcoll
