// nic/agent/poller.hpp - what the agent's one thread waits for.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/descriptor.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// A Watched has a descriptor.
class Watched {
  public:
    Watched() = default;
    virtual ~Watched() = default;
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    /// Is called when its descriptor can be read or written, or has failed.
    virtual void ready() = 0;
};

class Poller {
  public:
    static Result<Poller> make();
    enum class For : std::uint8_t {
        reading,
        reading_and_writing,
        writes_of_others  ///< it is told of each once, and nobody has to read what was written
    };
    Status add(int descriptor, Watched& watched, For what = For::reading);
    void change(int descriptor, Watched& watched, For what);
    /// Must be called before the descriptor is closed; then nothing more is heard of it, also of
    /// what was ready in the same turn.
    void remove(int descriptor, const Watched& watched);
    /// Waits once, and tells who is ready. Errors: io.
    Status turn(std::chrono::milliseconds patience);

  private:
    explicit Poller(Descriptor epoll) : epoll_(std::move(epoll)) {}

    Descriptor epoll_;
    std::vector<const Watched*> removed_;  ///< objects removed in this turn
};

}  // namespace gradcoll
