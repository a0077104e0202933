// runtime/ready_steps.hpp - which steps of a chunk still wait for others, and which are ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/program.hpp"

namespace gradcoll {

/// ReadyList keeps steps in the order in which they became ready. Every step is put in once, so the
/// room never needs to wrap.
class ReadyList {
  public:
    explicit ReadyList(std::size_t steps) : steps_(steps) {}
    void clear() { first_ = end_ = 0; }
    bool empty() const { return first_ == end_; }
    void push(std::uint32_t step) { steps_[end_++] = step; }
    std::uint32_t pop() { return steps_[first_++]; }

  private:
    std::vector<std::uint32_t> steps_;
    std::size_t first_ = 0;
    std::size_t end_ = 0;
};

/// ReadySteps is used for one chunk after another and allocates only when it is made.
class ReadySteps {
  public:
    /// Makes room for that many steps.
    explicit ReadySteps(std::size_t steps)
        : waiting_for_(steps), messages_(steps), locals_(steps) {}

    void begin(const Program& program);
    void drop() { unfinished_ = 0; }
    /// Makes those steps ready that waited for this step alone.
    void finish(std::uint32_t step);

    bool all_finished() const { return unfinished_ == 0; }
    bool has_finished(std::uint32_t step) const { return waiting_for_[step] == finished; }
    /// Returns whether nothing is missing before the step, and it has not finished.
    bool is_ready(std::uint32_t step) const { return waiting_for_[step] == 0; }
    ReadyList& messages() { return messages_; }
    ReadyList& locals() { return locals_; }
    const ReadyList& locals() const { return locals_; }
    const Program& program() const { return *program_; }

  private:
    static constexpr std::uint32_t finished = std::numeric_limits<std::uint32_t>::max();

    void make_ready(std::uint32_t step) {
        (is_message(program_->schedule().steps[step].kind) ? messages_ : locals_).push(step);
    }

    const Program* program_ = nullptr;
    std::size_t unfinished_ = 0;
    std::vector<std::uint32_t>
        waiting_for_;  ///< one per step: how many others it waits for, or `finished`
    ReadyList messages_;
    ReadyList locals_;
};

inline void ReadySteps::begin(const Program& program) {
    program_ = &program;
    unfinished_ = program.step_count();
    messages_.clear();
    locals_.clear();
    for (std::size_t i = 0; i < unfinished_; ++i) waiting_for_[i] = program.wait_count(i);
    for (const std::uint32_t root : program.roots()) make_ready(root);
}

inline void ReadySteps::finish(std::uint32_t step) {
    --unfinished_;
    waiting_for_[step] = finished;
    for (const std::uint32_t next : program_->successors(step))
        if (--waiting_for_[next] == 0) make_ready(next);
}

}  // namespace gradcoll
