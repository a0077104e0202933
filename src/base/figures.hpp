// base/figures.hpp - what engines count of themselves, and what this process hands to NIC agents,
// for the report: those who count know nothing of it, nor it of them.
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

/// EngineFigures count since the engine was made, on this rank.
struct EngineFigures {
    std::uint64_t sums = 0;          ///< gradients whose sums have ended, well or not
    std::uint64_t failed = 0;        ///< how many of those failed
    std::uint64_t packed = 0;        ///< how many of those were summed with others
    std::uint64_t packs = 0;         ///< how many packs they were summed in
    std::uint64_t packed_bytes = 0;  ///< what these packs were to send
    std::uint64_t busy_ns = 0;  ///< time while at least one gradient was handed in and not complete
    std::uint64_t waited_ns = 0;  ///< part of that while a thread of the program waited for one
    std::uint64_t held_ns = 0;    ///< time of all sums together, from handed in to their begin ...
    std::uint64_t summed_ns = 0;  ///< ... and from there to their end
    std::uint64_t most_held = 0;  ///< gradients held at one time
    std::uint64_t most_running = 0;   ///< sums running at one time, a pack as one
    std::uint64_t stalls = 0;         ///< stalls that this rank has warned of
    std::uint64_t planned_anew = 0;   ///< times, as links carried something else than was said ...
    double links_carry = 1;           ///< ... the part of it that plans are made for at last
    std::uint64_t told_messages = 0;  ///< messages that this rank has sent to agree with others
    std::uint64_t told_bytes = 0;
};

}  // namespace gradcoll
