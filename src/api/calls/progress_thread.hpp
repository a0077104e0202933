// api/calls/progress_thread.hpp - the thread that makes progress of operations that a program
// completes through requests of MPI. Why a thread: docs/decisions/003.
#pragma once

#include <memory>

#include "api/comm/started_calls.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// Hands the operation, which has been started, to the thread, which is started at the first use
/// and stopped in MPI_Finalize, after all operations. It sleeps while there is none. Thread safe.
/// Errors: transport.
Status give_to_progress_thread(std::shared_ptr<StartedCall> call);

}  // namespace gradcoll
