// base/watched_process.hpp - whether another process of this host has ended, found out without its
// help.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/descriptor.hpp"

namespace gradcoll {

/// Returns what tells the present boot of this system from all others; empty if the system does not
/// say. It reads a file of /proc.
std::string present_boot();

/// ProcessName tells a process from all others of its host, also from one that gets its number
/// later. It travels between ranks as it is.
struct ProcessName {
    /// This is equal on processes that know each other by their numbers, as they are of one boot of
    /// one system and in one pid namespace. 0: the system does not say.
    std::uint64_t numbering = 0;
    std::int64_t number = 0;
    std::uint64_t start_ticks = 0;  ///< when it was started, as /proc says; 0: it does not

    friend bool operator==(const ProcessName&, const ProcessName&) = default;
};
/// Returns the name of this process. It reads files of /proc.
ProcessName this_process_name();

/// A WatchedProcess holds a pidfd. It never takes a process for ended that is stopped, slow, or
/// whose number another process has by now. Thread safe.
class WatchedProcess {
  public:
    /// Watches the process; all that watch one share a descriptor. Returns null if it cannot be
    /// watched: it has another numbering, or the system or its limits do not allow it.
    static std::shared_ptr<const WatchedProcess> of(const ProcessName& name);

    explicit WatchedProcess(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
    /// Returns the descriptor, which can be read from (POLLIN) once the process has ended, waited
    /// for or not.
    int descriptor() const { return descriptor_.number(); }

  private:
    Descriptor descriptor_;
};

}  // namespace gradcoll
