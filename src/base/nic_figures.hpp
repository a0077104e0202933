// base/nic_figures.hpp - what this process hands to NIC agents, for the report: transports count,
// the report writes, and neither knows the other.
#pragma once

#include <atomic>
#include <cstdint>

namespace gradcoll {

/// NicFigures count since the process began. Frames are pieces of messages; bytes are as the
/// process has them, whatever agents make of them.
struct NicFigures {
    std::uint64_t frames_sent = 0;  ///< frames that agents took
    std::uint64_t bytes_sent = 0;
    std::uint64_t frames_coded = 0;  ///< how many of those agents encode
    std::uint64_t detoured_frames =
        0;  ///< frames that went round them, as messages of the MPI library
    std::uint64_t detoured_bytes = 0;
    std::uint64_t lost_ranks =
        0;  ///< ranks that agents no longer reach, once for each communicator

    bool any() const { return frames_sent > 0 || detoured_frames > 0 || lost_ranks > 0; }
};

/// NicCounters are thread safe.
class NicCounters {
  public:
    void count_sent(std::uint64_t bytes, bool coded) {
        add(frames_sent_, 1);
        add(bytes_sent_, bytes);
        if (coded) add(frames_coded_, 1);
    }
    void count_detoured(std::uint64_t bytes) {
        add(detoured_frames_, 1);
        add(detoured_bytes_, bytes);
    }
    void count_lost() { add(lost_ranks_, 1); }
    NicFigures read() const {
        return {frames_sent_,     bytes_sent_,     frames_coded_,
                detoured_frames_, detoured_bytes_, lost_ranks_};
    }
    static NicCounters& of_process() {
        static NicCounters counters;
        return counters;
    }

  private:
    using Counter = std::atomic<std::uint64_t>;
    static void add(Counter& counter, std::uint64_t count) {
        counter.fetch_add(count, std::memory_order_relaxed);
    }
    Counter frames_sent_{0}, bytes_sent_{0}, frames_coded_{0};
    Counter detoured_frames_{0}, detoured_bytes_{0}, lost_ranks_{0};
};

}  // namespace gradcoll
