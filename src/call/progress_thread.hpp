// call/progress_thread.hpp - progress of operations that a program completes through requests
// of MPI: by a thread, and by the program's own threads while they wait for such a request, where
// the interposer sees them do so. Why: docs/decisions/003.
#pragma once

#include <memory>

#include "comm/started_calls.hpp"

namespace gradcoll {

/// Giving says how an operation is handed to the progress thread.
struct Giving {
    /// The thread looks at it at once; else it does so within a millisecond, if the program does
    /// not.
    bool urgent = true;
    bool yields = false;  ///< ranks outnumber cores (CommIdentity::yields())
};
/// Hands a started operation to the progress thread, which is started at the first use, sleeps
/// while it has no operation, and is stopped in MPI_Finalize, after all operations. Where no thread
/// can be started, this waits for the operation's end instead. Called only by a thread that may
/// call MPI.
void give_to_progress_thread(std::shared_ptr<StartedCall> call, Giving how);

/// Makes progress on a thread of the program that waits for requests of MPI. Meanwhile the progress
/// thread leaves the work to it, because the two would want the same core where ranks are as many
/// as cores. Gives the core away now and then while there is nothing to do. Returns false if no
/// operation is under way.
bool make_progress_for_waiting_program() noexcept;

}  // namespace gradcoll
