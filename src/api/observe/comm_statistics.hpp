// api/observe/comm_statistics.hpp - what the calls of one communicator are counted in: GC_Stats,
// and the report of the process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "api/edge/pass_reason.hpp"
#include "base/mpi/mpi.hpp"
#include "gradcoll/inspect.h"
#include "report/report.hpp"

namespace gradcoll {

/// Thread safe without a lock: the caller's thread and the progress thread count, anybody reads. A
/// reading while calls end may have one of them in part.
class CommStatistics {
  public:
    /// `private_comm`: what observe_as() names to the report.
    explicit CommStatistics(MPI_Comm private_comm) : comm_(private_comm) {}

    void count_served(const CallRecord& record);
    /// A call that needed no messages.
    void count_local(CallKind kind, std::uint64_t size_bytes);
    void count_passed(CallKind kind, std::uint64_t size_bytes, PassReason reason);
    void count_time(std::chrono::nanoseconds time);

    GC_Stats read() const;
    void reset();

  private:
    using Counter = std::atomic<std::uint64_t>;
    static constexpr const char* none_passed = "no call has passed to the MPI library";

    MPI_Comm comm_;
    Counter calls_tree_{0};
    Counter calls_compressed_{0};
    Counter calls_passed_{0};
    Counter bytes_reduced_{0};
    Counter bytes_sent_{0};
    Counter bytes_sent_exact_{0};
    Counter messages_sent_{0};
    Counter nanoseconds_{0};
    std::atomic<const char*> last_pass_reason_{none_passed};
};

/// Bytes of so many elements of a valid datatype, if calls are observed; else 0.
std::uint64_t observed_bytes(MPI_Count count, MPI_Datatype datatype);
/// A call on a communicator that is not attached (never null) passes to the MPI library.
void count_unattached(MPI_Comm comm, CallKind kind, std::uint64_t size_bytes, PassReason reason);

/// Adds the time of its life to the statistics.
class CallTimer {
  public:
    explicit CallTimer(CommStatistics& statistics) : statistics_(statistics) {}
    ~CallTimer() { statistics_.count_time(std::chrono::steady_clock::now() - start_); }
    CallTimer(const CallTimer&) = delete;
    CallTimer& operator=(const CallTimer&) = delete;

  private:
    CommStatistics& statistics_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace gradcoll
