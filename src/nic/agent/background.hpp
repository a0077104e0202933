// nic/agent/background.hpp - a program that goes on after whoever started it has got its answer.
#pragma once

#include "base/descriptor.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// Foreground lets the process in the background tell the one in the foreground that all is well.
class Foreground {
  public:
    Foreground() = default;
    explicit Foreground(Descriptor pipe) : pipe_(std::move(pipe)) {}
    /// Lets the other process end, with success. Without this call it ends with a failure when this
    /// process does.
    void release();

  private:
    Descriptor pipe_;
};

/// Splits the process in two. The one that returns is in the background, in a session of its own;
/// the other waits until it is released, and ends. Errors, in the one process that there is: io.
Result<Foreground> go_to_background();
/// Detaches from the terminal: nobody reads what the process writes, and nobody waits for its end.
Status leave_terminal();

}  // namespace gradcoll
