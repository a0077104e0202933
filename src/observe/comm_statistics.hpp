// observe/comm_statistics.hpp - what the calls of one communicator are counted in: GC_Stats,
// and the report of the process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/mpi/mpi.hpp"
#include "gradcoll/inspect.h"
#include "mpi/pass_reason.hpp"
#include "report/link_use.hpp"
#include "report/report.hpp"

namespace gradcoll {

class CallTimer;

/// CallTraffic is what this rank moved for a call that was served.
struct CallTraffic {
    std::uint64_t bytes = 0;  ///< size of the whole vector, uncompressed
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_sent_exact = 0;
    std::uint64_t messages_sent = 0;
    bool lossy = false;            ///< some hop was compressed
    const char* agents = nullptr;  ///< CallRecord::agents
};

/// CommStatistics counts the calls of one communicator. Thread safe without a lock: the caller's
/// thread and the progress thread count, and any thread reads. What is read while calls end may
/// have one of them in part.
class CommStatistics {
  public:
    /// Makes it, after MPI_Init. `private_comm` is the one that observe_as() names to the report.
    explicit CommStatistics(MPI_Comm private_comm);

    /// Returns whether a report or a trace wants the calls. It does from the first call on, or
    /// never.
    bool is_observed() const { return is_observed_; }

    /// Counts a served call. If nobody observes, only its traffic counts, and whether its caller
    /// waited in it.
    void count_served(const CallRecord& record);
    void count_served(bool waited, const CallTraffic& traffic);
    /// Counts what it put on links, if anybody wants to know (links_wanted()).
    void count_link_use(const LinkUse& of_one_call);
    /// Counts a call that needed no messages.
    void count_local(CallKind kind, std::uint64_t size_bytes);
    void count_passed(CallKind kind, std::uint64_t size_bytes, PassReason reason);
    void count_time(std::chrono::nanoseconds time);
    /// Returns the timer of a blocking call that begins. To read the clock twice takes as long as a
    /// short call, so one in sixteen of these is timed, and counts for all of them.
    CallTimer timer_of(std::uint64_t size_bytes);

    GC_Stats read() const;
    void reset();

  private:
    using Counter = std::atomic<std::uint64_t>;
    struct Served {
        Counter calls{0};
        Counter compressed{0};
        Counter bytes_reduced{0};
        Counter bytes_sent{0};
        Counter bytes_sent_exact{0};
        Counter messages_sent{0};

        /// Counts the traffic; `add` adds to one counter.
        template <class Add>
        void count(const CallTraffic& traffic, Add&& add);
        void reset();
    };
    static constexpr const char* none_passed = "no call has passed to the MPI library";
    static constexpr const char* no_agents = "no call was made where there are NIC agents";

    MPI_Comm comm_;
    const bool is_observed_;
    Served waited_;   ///< blocking calls, which are made one at a time
    Served started_;  ///< all others
    Counter calls_passed_{0};
    Counter nanoseconds_{0};
    Counter short_calls_{0};
    std::atomic<const char*> last_pass_reason_{none_passed};
    std::atomic<const char*> last_agents_{no_agents};
};

/// Returns the bytes of so many elements of a valid datatype, if calls are observed; else 0.
std::uint64_t observed_bytes(MPI_Count count, MPI_Datatype datatype);
/// Returns whether count_unattached() does anything.
bool unattached_calls_are_told();
/// Counts a call on a communicator that is not attached (never null) and passes to the MPI library.
void count_unattached(MPI_Comm comm, CallKind kind, std::uint64_t size_bytes, PassReason reason);

/// CallTimer adds the time of its life, `weight` times, to the statistics, which must outlive it. A
/// default one, or one that was moved from, times nothing.
class CallTimer {
  public:
    CallTimer() = default;
    explicit CallTimer(CommStatistics& statistics, int weight = 1)
        : statistics_(&statistics), weight_(weight), start_(std::chrono::steady_clock::now()) {}
    ~CallTimer() {
        if (statistics_ != nullptr)
            statistics_->count_time((std::chrono::steady_clock::now() - start_) * weight_);
    }
    CallTimer(CallTimer&& other) noexcept
        : statistics_(std::exchange(other.statistics_, nullptr)),
          weight_(other.weight_),
          start_(other.start_) {}
    CallTimer& operator=(CallTimer&& other) noexcept {
        std::swap(statistics_, other.statistics_);
        std::swap(weight_, other.weight_);
        std::swap(start_, other.start_);
        return *this;
    }

  private:
    CommStatistics* statistics_ = nullptr;
    int weight_ = 1;
    std::chrono::steady_clock::time_point start_;
};

}  // namespace gradcoll
