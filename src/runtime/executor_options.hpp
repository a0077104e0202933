// runtime/executor_options.hpp - how an executor walks its plan.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

namespace gradcoll {

class DeviceSide;
class PeerWatch;
class ScratchPool;
class Trace;

struct ExecutorOptions {
    /// The number of chunks in flight is 1 to 16, and at most as many as the channel's tags tell
    /// apart (TagLayout::chunk_count). It is best if all ranks have the same, but not needed.
    int chunks_in_flight = 4;
    bool yield_always = false;  ///< ranks outnumber cores: give the core away at every idle turn
    /// If this is set, a send leaves when the same one of the chunk before has ended: so chunks go
    /// through the levels one behind the other, also where a network shares its links fairly among
    /// all messages, and work on different levels at the same time.
    bool paced = false;
    /// Messages to and from these ranks go in pieces (Lane::cut_messages); their executors know it,
    /// too.
    std::vector<int> cut_peers = {};
    /// Messages to and from these ranks, which are on this one's host (ascending), are not packed;
    /// their executors know it, too.
    std::vector<int> plain_peers = {};
    /// If this is set, each message is followed by its checksum, and at the end all ranks learn
    /// whether one has failed. It is the same on all ranks, and not where data may be on devices.
    bool checked = false;
    bool timed = false;  ///< measure for RunStats
    /// The trace, if any, gets a span for every step, for the idle time in wait(), and for the
    /// whole operation; it must outlive the executor. With a trace everything is `timed`.
    Trace* trace = nullptr;
    double predicted_us =
        0;  ///< duration of the whole operation, for the trace; 0 if it is not known
    /// This is the device that the data are on, or that reads what peers have on theirs; null if
    /// neither is so. On data of a device there are only allreduces. Other ranks need not do the
    /// same.
    std::shared_ptr<DeviceSide> device = {};
    bool data_on_device = false;
    /// This is set if data of other ranks may be on devices, whose messages come neither coded on
    /// the way nor with a signature ahead. It is the same on all ranks.
    bool among_devices = false;
    /// An operation that ranks called differently waits this long for messages after it has failed.
    std::chrono::milliseconds patience{5'000};
    /// It knows of ranks that have died; null: nobody looks.
    std::shared_ptr<PeerWatch> peers = {};
    /// Says what people call each rank of the channel; empty: as it is numbered there. It outlives
    /// the executors, as the channel does.
    std::span<const int> in_job = {};
    /// Scratch memory of the host is borrowed from this pool for each operation; if it is null the
    /// executor makes a pool of its own.
    std::shared_ptr<ScratchPool> scratch = {};
};

}  // namespace gradcoll
