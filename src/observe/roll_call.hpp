// observe/roll_call.hpp - a signal that makes this process say for whom it waits, wherever it is
// (GC_ROLL_CALL).
#pragma once

#include <memory>
#include <string>

#include "report/live_page.hpp"

namespace gradcoll {

/// Returns the signal that GC_ROLL_CALL names; 0 for none.
int roll_call_signal();

/// Answers the signal from now on: it writes what the page tells to stderr, each line after `who`.
/// Returns false, and changes nothing, if the signal is not left to the system as it is by default:
/// a handler of the program stays. Called once.
bool answer_roll_calls(int signal, const LivePage& page, const std::string& who);

/// Says from now on that MPI has ended, where roll calls are answered. Takes the page then, which
/// stays, as a thread may be reading it for an answer.
void end_roll_calls(std::unique_ptr<LivePage>& page);

}  // namespace gradcoll
