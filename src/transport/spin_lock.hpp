// transport/spin_lock.hpp - what guards the messages of all lanes of a channel.
#pragma once

#include <sched.h>

#include <atomic>

namespace gradcoll {

/// A SpinLock is held for the copy of some hundred KiB at most; no system call while nobody else
/// wants it.
class SpinLock {
  public:
    void lock() {
        while (held_.test_and_set(std::memory_order_acquire)) sched_yield();
    }
    void unlock() { held_.clear(std::memory_order_release); }

  private:
    std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

}  // namespace gradcoll
