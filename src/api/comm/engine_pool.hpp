// api/comm/engine_pool.hpp - shared memory of one host that communicators of the same processes
// have together, and that waits for the next one when they are freed.
#pragma once

#include <memory>

#include "api/comm/comm_identity.hpp"
#include "api/comm/one_host_engine.hpp"

namespace gradcoll {

/// Collective over the communicator, whose ranks are on one host. The engine that another
/// communicator of the same processes in the same order made with the same choices, or a new one:
/// programs that make and free communicators pay for memory once. Two communicators use one engine
/// at the same time only if no rank has MPI_THREAD_MULTIPLE: then a correct program makes their
/// blocking calls in one order everywhere (MPI-4.1, 6.14). Errors: those of OneHostEngine::make().
///
/// Unused engines stay, at most most_idle_engines. Thread safe.
Result<std::shared_ptr<OneHostEngine>> engine_for(const CommIdentity& comm,
                                                  const OneHostChoices& choices);
inline constexpr std::size_t most_idle_engines = 8;

}  // namespace gradcoll
