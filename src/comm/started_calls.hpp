// comm/started_calls.hpp - operations that are started and not complete, of the whole process:
// whoever waits for one thing makes progress of all, so that ranks may wait in different orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// A Mover says who advances what has started.
enum class Mover : std::uint8_t {
    program,  ///< a thread that may call MPI
    helper    ///< a thread that must not: MPI runs without MPI_THREAD_MULTIPLE
};

/// A StartedCall is something that can be advanced without blocking.
class StartedCall {
  public:
    enum class Turn { idle, advanced, finished };

    virtual ~StartedCall() = default;
    /// Does what can be done now. It is called by one thread at a time. The call is forgotten when
    /// this returns `finished`.
    virtual Turn advance(Mover mover) = 0;
};

/// Adds a call that the program completes with a call of ours, and keeps until it has finished.
/// Thread safe.
void add_started_call(StartedCall& call);
/// Adds a call that the program completes with a call of MPI (progress_thread.hpp). Thread safe.
void add_started_call(std::shared_ptr<StartedCall> call);

/// Advances every call, in the order in which they were started; returns true if one of them did
/// something. If another thread is at it, gives the core away once (and returns true: progress is
/// being made). Cheap where there are none: one load. Thread safe.
bool advance_started_calls(Mover mover = Mover::program);

/// Runs MPI_Allreduce in place while what is started goes on: another rank may wait for that before
/// it comes here. Errors: transport.
Status allreduce_going_on(void* data, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/// Returns how many calls the program completes with calls of MPI. Thread safe.
std::size_t calls_for_mpi();
/// Says whether waits of the program are to be seen although no such call is under way. Thread
/// safe.
void waits_may_do_more(bool more);
/// Returns what waits_may_do_more() said last.
bool waits_do_more();
/// Has `listener` called whenever the first such call begins or the last one ends, or waits do
/// more, under the list's lock. There is one listener for the process.
void when_calls_for_mpi_come_or_go(void (*listener)(bool any));

}  // namespace gradcoll
