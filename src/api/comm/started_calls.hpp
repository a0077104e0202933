// api/comm/started_calls.hpp - persistent operations that are started and not complete, of the
// whole process: whoever waits for one thing makes progress of all, so that ranks may wait in
// different orders.
#pragma once

namespace gradcoll {

/// Something that can be advanced without blocking.
class StartedCall {
  public:
    enum class Turn { idle, advanced, finished };

    virtual ~StartedCall() = default;
    /// Does what can be done now, for whoever moves it: the list below, under its lock, or the
    /// progress thread. It is forgotten there when it returns `finished`.
    virtual Turn advance() = 0;
};

/// The call must stay until it has finished. Thread safe.
void add_started_call(StartedCall& call);

/// Advances every call of the list; true if one of them did something. If another thread is at it,
/// returns at once (true: progress is being made). Cheap where there are none: one load. Thread
/// safe.
bool advance_started_calls();

}  // namespace gradcoll
