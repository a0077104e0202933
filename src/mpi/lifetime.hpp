// mpi/lifetime.hpp - how the library learns that MPI ends, or a communicator; and how it makes a
// communicator for itself alone.
#pragma once

#include <functional>

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// Runs `action` at the beginning of MPI_Finalize, while MPI still works. So ends what the library
/// owns beyond one communicator. The last registered action runs first, so whoever needs something
/// registers after it. Thread safe. Errors: transport.
Status at_finalize(std::function<void()> action);

/// Returns whether the actions have begun: nothing new is made from then on, though the program may
/// still make calls, in attribute callbacks of its own.
bool finalize_has_begun();

// ---- communicators that are being freed. MPI deletes their attributes one by one, and a program's
// own delete callbacks may still make calls on them after our attribute is gone. Such a call must
// not hang anything on the communicator: nobody would delete it, and MPICH 4.0 walks freed memory
// when it looks for attributes then.

/// Marks the communicator, by its name, as one that ends. Our attributes' delete callbacks call
/// this. Does nothing while a KeepsComm lives on this thread.
void note_end_of(MPI_Comm comm) noexcept;

/// Returns whether `comm` is being freed by this thread and has lost an attribute of ours. A new
/// communicator with the same handle is not. Cheap.
bool is_ending(MPI_Comm comm) noexcept;

/// While a KeepsComm lives, attributes on this thread go for another reason than the end of their
/// communicator.
class KeepsComm {
  public:
    KeepsComm() noexcept;
    ~KeepsComm();
    KeepsComm(const KeepsComm&) = delete;
    KeepsComm& operator=(const KeepsComm&) = delete;
};

/// Makes a communicator of this rank alone, whose errors come back as codes. It is made of a group,
/// so that no call of the program's on MPI_COMM_SELF is in its way. Local. Errors: transport.
Result<OwnedComm> make_own_comm();

}  // namespace gradcoll
