// api/observe/comm_statistics.hpp - what GC_Stats adds up for one communicator.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "report/report.hpp"

namespace gradcoll {

/// Counters of GC_Stats.
struct CallStats {
    std::uint64_t calls_tree = 0;
    std::uint64_t calls_compressed = 0;
    std::uint64_t calls_passed = 0;
    std::uint64_t bytes_reduced = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_sent_exact = 0;
    std::uint64_t messages_sent = 0;
    std::uint64_t nanoseconds = 0;
    const char* last_pass_reason = "no call has passed to the MPI library";
};

/// Thread safe without a lock: the caller's thread and the progress thread count, anybody reads. A
/// reading while calls end may have one of them in part.
class CallCounters {
  public:
    /// A call that was served.
    void count(const CallRecord& record);
    /// `reason`: static text.
    void count_passed(const char* reason);
    void count_time(std::chrono::nanoseconds time);
    CallStats read() const;
    void reset();

  private:
    using Counter = std::atomic<std::uint64_t>;

    Counter calls_tree_{0};
    Counter calls_compressed_{0};
    Counter calls_passed_{0};
    Counter bytes_reduced_{0};
    Counter bytes_sent_{0};
    Counter bytes_sent_exact_{0};
    Counter messages_sent_{0};
    Counter nanoseconds_{0};
    std::atomic<const char*> last_pass_reason_{CallStats{}.last_pass_reason};
};

}  // namespace gradcoll
