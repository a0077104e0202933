// runtime/executor.hpp - walks a plan: the only place where schedule, codec, channel and user
// memory meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "reduce/reducer.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

class DeviceSide;

/// Where one call's data are. With Options::data_on_device all of it is memory of the device.
struct Binding {
    const void* input = nullptr;  ///< equals `output` for in-place calls
    void* output = nullptr;
    void* residual =
        nullptr;      ///< plan.residual_elems() values (fp32; fp64 for fp64 elements), or null
    Reducer reducer;  ///< must be a sum if the plan has a lossy codec: the caller checks
    ReduceOp op = ReduceOp::sum;  ///< the reducer's, for executors whose data are on a device
    std::uint32_t sequence =
        0;  ///< number of the operation on its communicator, the same on all ranks: keeps the
            ///< messages of operations that overlap in time apart (runtime/tags.hpp)
};

class Trace;

enum class Progress : std::uint8_t { idle, advanced, complete };

/// What one operation cost, added up since the object was made.
struct RunStats {
    std::uint64_t messages_sent = 0;
    std::uint64_t bytes_sent = 0;         ///< on the wire, frame headers included
    std::uint64_t sent_by_reference = 0;  ///< of the messages: to a peer that reads our device
    std::uint64_t sent_from_device = 0;   ///< of the messages: by the MPI library as they lie there
    std::uint64_t codec_ns =
        0;                      ///< in encode, decode and decode_reduce; measured only when `timed`
    std::uint64_t wait_ns = 0;  ///< in wait(), outside of local steps; measured only when `timed`
};

/// Runs one plan, again and again; several chunks are in flight at once so that all levels of the
/// tree work at the same time. All memory is taken when it is made. One operation at a time; used
/// by one thread at a time.
///
/// The result depends on the plan and the data alone, never on the order in which messages arrive.
/// A frame that does not check out, or a codec that refuses its input, fails the operation but not
/// the protocol: the first error is kept, local work stops, and the remaining messages are still
/// exchanged (marked as failed where they are framed), so that other ranks end too. After a
/// transport error nothing more is exchanged. In both cases the output is unspecified, and another
/// operation can be started afterwards.
class Executor {
  public:
    struct Options {
        int chunks_in_flight = 4;  ///< 1 to 16; the same on all ranks is best, but not needed
        bool yield_always =
            false;  ///< ranks outnumber cores: give the core away at every idle turn
        /// A send leaves when the same one of the chunk before has ended: so chunks go through the
        /// levels one behind the other, also where a network shares its links fairly among all
        /// messages, and work on different levels at the same time.
        bool paced = false;
        /// Ranks whose messages go in pieces (Lane::cut_messages); their executors know it, too.
        std::vector<int> cut_peers = {};
        bool timed = false;  ///< measure for RunStats
        /// Gets a span for every step, for the idle time in wait(), and for the whole operation;
        /// must outlive the executor. With a trace everything is `timed`.
        Trace* trace = nullptr;
        double predicted_us = 0;  ///< of the whole operation, for the trace; 0: not known
        /// The device that the data are on, or that reads what peers have on theirs; null: neither.
        /// Data on a device: allreduces only. Other ranks need not do the same.
        std::shared_ptr<DeviceSide> device = {};
        bool data_on_device = false;
    };
    /// `channel` must outlive the executor. Errors: invalid_argument (options; a plan for another
    /// rank or number of ranks than the channel's), unsupported (a codec for the type; more stages
    /// than tags), internal (a plan that contradicts itself).
    static Result<std::unique_ptr<Executor>> make(std::shared_ptr<const Plan> plan,
                                                  Channel& channel, const Options& options);
    /// Abandons an operation that has not ended.
    ~Executor();

    const Plan& plan() const;
    /// The device that its operations' data are on; null: the host.
    const DeviceSide* data_device() const;
    /// Errors: internal if an operation is running, invalid_buffer for null buffers, invalid_op
    /// without a reducer where one is needed, transport. Nothing is running after an error.
    Status start(const Binding& binding);
    /// Does a bounded piece of what can be done now: starts messages, looks for finished ones, runs
    /// one local step. Never blocks. An error is the end of the operation; afterwards (and before
    /// start()) there is nothing to do: complete.
    Result<Progress> advance();
    /// Advances until complete, yielding the core when idle.
    Status wait();
    /// Start and wait.
    Status run(const Binding& binding);
    const RunStats& stats() const;

  private:
    struct Impl;
    explicit Executor(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace gradcoll
