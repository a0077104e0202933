// runtime/local_step.hpp - one local step (encode, decode, reduce, copy) that is ready: who picks
// it, who runs it and who finishes it need not be the same.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "runtime/chunk_view.hpp"
#include "runtime/operation.hpp"

namespace gradcoll {

class Executor;

/// LocalWork says who does the local steps of an executor.
enum class LocalWork : std::uint8_t {
    here,      ///< the executor's turns
    elsewhere  ///< whoever takes them (Executor::take_local)
};

/// TakenSteps counts the steps that were taken and are yet to be run. It is shared by the
/// executor's thread, which adds and drops, and those that run steps.
class TakenSteps {
  public:
    void add() { left_.fetch_add(1, std::memory_order_relaxed); }
    void has_run() { left_.fetch_sub(1, std::memory_order_release); }
    /// Makes steps that have not begun do nothing when they are run.
    void drop() { dropped_.store(true, std::memory_order_relaxed); }
    bool dropped() const { return dropped_.load(std::memory_order_relaxed); }
    void renew() { dropped_.store(false, std::memory_order_relaxed); }
    /// Waits until all have run; gives the core away meanwhile.
    void wait() const;

  private:
    std::atomic<std::uint32_t> left_{0};
    std::atomic<bool> dropped_{false};
};

/// LocalStep is a step that waits for nothing. It is a value; what it points to stays as it is
/// until the step is finished. Steps that are ready at the same time, of one executor or of
/// several, may run at the same time in any order.
struct LocalStep {
    const Step* step = nullptr;
    const ChunkView* view = nullptr;  ///< view of its chunk
    const Operation* operation = nullptr;
    std::int64_t chunk = 0;
    std::int64_t residual_first_elem = 0;  ///< counts only for encode steps
    std::uint32_t cookie = 0;              ///< place of the chunk, and number of the step
    const std::byte* decoded =
        nullptr;           ///< what a decode or decode_reduce step decodes, if that is done already
    bool skipped = false;  ///< the operation has failed: it is counted, but does nothing
    TakenSteps* taken = nullptr;   ///< null: its executor runs it at once
    Executor* executor = nullptr;  ///< the executor that gets it back; null likewise

    StepKind kind() const { return step->kind; }
    /// Returns the size of its elements.
    std::size_t bytes() const { return view->bytes_of(step->range); }
};

/// LocalResult says how a step went. It is a value.
struct LocalResult {
    Status status;
    std::uint64_t begin_ns = 0;  ///< when a step of a timed operation began
    std::uint64_t end_ns = 0;
};

/// Runs the step on the calling thread, whatever thread that is: reads and writes the memory that
/// the step names, and adds its span to the trace; of the executor it changes nothing. It must be
/// called once for each step. Allocates only if the step fails. The status is corrupt if a codec
/// refuses its input.
LocalResult run_step(const LocalStep& local);

}  // namespace gradcoll
