// api/edge/lifetime.hpp - what the library owns beyond one communicator ends inside MPI_Finalize.
#pragma once

#include <functional>

#include "base/status.hpp"

namespace gradcoll {

/// Runs `action` at the beginning of MPI_Finalize, while MPI still works; the last registered runs
/// first, so whoever needs something registers after it. Thread safe. Errors: transport.
Status at_finalize(std::function<void()> action);

/// Whether the actions have begun: nothing new is made from then on, though the program may still
/// make calls, in attribute callbacks of its own.
bool finalize_has_begun();

}  // namespace gradcoll
