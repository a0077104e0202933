// call/anywhere/grid_run.hpp - a sum on a grid that nobody waits in: its steps go over the tree one
// after the other.
#pragma once

#include <vector>

#include "call/anywhere/grid_sum.hpp"
#include "runtime/executor.hpp"
#include "runtime/operation_numbers.hpp"
#include "settings/settings.hpp"
#include "ways/tree/call_decision.hpp"

namespace gradcoll {

/// GridRun runs the steps of one sum. All have one operation number and go one behind the other:
/// their messages keep their order, as those of two operations of one number do. It must not move
/// while it runs; it never waits.
class GridRun {
  public:
    /// Keys are those of the steps of a sum; all are in place.
    struct Keys {
        CallKey tops, words, specials;
    };
    static Keys keys_of(ElementType type, std::int64_t count_elems, const Settings& settings);

    /// Executors are idle at the start and must exist until the run has ended.
    struct Executors {
        Executor* tops = nullptr;
        Executor* words = nullptr;
        Executor* specials = nullptr;
    };
    /// Starts the run. `number` is empty if the binding has its number (Binding::sequence). A rank
    /// that has no room for its integers takes no part, and the others are told. The binding's
    /// refusal must stay until the run has ended. Errors: those of Executor::start().
    Status start(const Executors& executors, const CallShape& shape, const Binding& binding,
                 ScratchPool& scratch, OperationNumber number);
    /// Does what Executor::advance() does. Errors: also why this rank took no part.
    Result<Progress> advance();
    /// Does what Executor::rest() does.
    void rest() {
        if (running_ != nullptr) running_->rest();
    }

  private:
    enum class Stage : std::uint8_t { awaiting_turn, tops, words, specials };

    Result<Progress> go_on();
    Status begin(Stage stage, Executor& executor, const IntegerStep& step);
    Status begin_tops();
    Result<Progress> settle();

    Executors executors_;
    Executor* running_ = nullptr;
    Binding binding_;
    Status refusal_;  ///< why this rank takes no part
    GridSum sum_;
    std::vector<GridTop> room_;  ///< tops of a rank that takes no part
    OperationNumber number_;
    Stage stage_ = Stage::awaiting_turn;
};

}  // namespace gradcoll
