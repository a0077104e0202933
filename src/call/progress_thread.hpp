// call/progress_thread.hpp - progress of operations that a program completes through requests
// of MPI: by a thread, and by the program's own threads while they wait for such a request, where
// the interposer sees them do so. Why: docs/decisions/003.
#pragma once

#include <memory>

#include "comm/started_calls.hpp"

namespace gradcoll {

/// Hands the operation, which has been started, to the thread, which is started at the first use
/// and stopped in MPI_Finalize, after all operations. It sleeps while there is none. Where no
/// thread can be started, this waits for the operation's end instead. Only by a thread that may
/// call MPI.
struct Giving {
    bool urgent = true;   ///< it begins soon; else, if the program does not, within a millisecond
    bool yields = false;  ///< ranks outnumber cores (CommIdentity::yields())
};
void give_to_progress_thread(std::shared_ptr<StartedCall> call, Giving how);

/// A thread of the program that waits for requests of MPI makes progress instead; the thread leaves
/// it to that one, for where ranks are as many as cores the two would want the same. Gives the core
/// away now and then while there is nothing to do. False: no operation is under way.
bool make_progress_for_waiting_program() noexcept;

}  // namespace gradcoll
