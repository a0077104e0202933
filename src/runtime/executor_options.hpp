// runtime/executor_options.hpp - how an executor walks its plan.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

namespace gradcoll {

class DeviceSide;
class ScratchPool;
class Trace;

struct ExecutorOptions {
    /// 1 to 16, and as many as the channel's tags tell apart at most (TagLayout::chunk_count). The
    /// same on all ranks is best, but not needed.
    int chunks_in_flight = 4;
    bool yield_always = false;  ///< ranks outnumber cores: give the core away at every idle turn
    /// A send leaves when the same one of the chunk before has ended: so chunks go through the
    /// levels one behind the other, also where a network shares its links fairly among all
    /// messages, and work on different levels at the same time.
    bool paced = false;
    /// Ranks whose messages go in pieces (Lane::cut_messages); their executors know it, too.
    std::vector<int> cut_peers = {};
    /// Ranks of this one's host (ascending): messages between these are not packed; their
    /// executors know it, too.
    std::vector<int> plain_peers = {};
    bool timed = false;  ///< measure for RunStats
    /// Gets a span for every step, for the idle time in wait(), and for the whole operation;
    /// must outlive the executor. With a trace everything is `timed`.
    Trace* trace = nullptr;
    double predicted_us = 0;  ///< of the whole operation, for the trace; 0: not known
    /// The device that the data are on, or that reads what peers have on theirs; null: neither.
    /// Data on a device: allreduces only. Other ranks need not do the same.
    std::shared_ptr<DeviceSide> device = {};
    bool data_on_device = false;
    /// Data of other ranks may be on devices, whose messages come neither coded on the way nor with
    /// a signature ahead. The same on all ranks.
    bool among_devices = false;
    /// How long an operation that ranks called differently waits for messages after it has failed.
    std::chrono::milliseconds patience{5'000};
    /// Where scratch memory of the host is borrowed from for each operation; null: the executor
    /// makes a pool of its own.
    std::shared_ptr<ScratchPool> scratch = {};
};

}  // namespace gradcoll
