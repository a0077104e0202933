// call/tolerance/tolerant_run.hpp - how a call that nobody waits in keeps gc_tolerance: a short
// exact allreduce over the tree, of what its ranks tell of their inputs, goes before it.
#pragma once

#include <memory>

#include "call/tolerance/tolerance.hpp"
#include "call/tolerance/wide_sum.hpp"
#include "runtime/executor.hpp"
#include "runtime/operation_numbers.hpp"

namespace gradcoll {

/// TolerantRun runs the looks and the sum of one call. All have one operation number and go one
/// behind the other: their messages keep their order, as those of two operations of one number do.
/// If the tolerance leaves codecs too little they lose nothing, as all blocks travel as plain
/// elements. It must not move while it runs; it never waits.
class TolerantRun {
  public:
    /// Returns the key of the allreduce that goes before the sum.
    static CallKey look_key();
    /// Returns the key of the same sum in the wider type, in which all codecs that keep a tolerance
    /// are defined.
    static CallKey wide_key(CallKey key);

    /// Executors are idle at the start and must exist until the run has ended. There is only `look`
    /// if the input cannot be read, and no `wide` if the type has no wider one.
    struct Executors {
        Executor* look = nullptr;
        Executor* main = nullptr;
        Executor* wide = nullptr;
    };
    /// Sum says which tolerance is to be kept, and by which call.
    struct Sum {
        std::shared_ptr<CommContext> context;
        std::shared_ptr<const DiscoveredTree> tree;
        ResultTolerance tolerance;
        CallShape shape;
        bool compress = false;
    };
    /// Starts the run. `number` is empty if the binding has its number (Binding::sequence). Errors:
    /// those of Executor::start().
    Status start(const Executors& executors, Sum sum, const Binding& binding,
                 OperationNumber number);
    /// Does what Executor::advance() does. Errors: also unsupported, on every rank, if some rank's
    /// input could not be read, or the tolerance is not kept; then the output holds the nearest
    /// result.
    Result<Progress> advance();
    /// Returns whether the wider type's executor made the sum; called after it has ended.
    bool is_wide() const { return budget_.added_in != sum_.shape.type; }

  private:
    enum class Stage : std::uint8_t { awaiting_turn, looking, looking_at_digits, running };

    Result<Progress> go_on();
    Status begin_look(Stage stage);
    Status settle_inputs();
    Status begin_sum();
    Result<Progress> end_sum();
    LossTerms terms() const;
    const void* values() const { return executors_.main != nullptr ? binding_.input : nullptr; }

    Executors executors_;
    Sum sum_;
    InputReport report_ = {};  ///< this rank's, then all ranks'
    Extent inputs_;
    LossBudget budget_;
    WideVector wide_;
    Binding binding_;
    OperationNumber number_;
    Stage stage_ = Stage::awaiting_turn;
};

}  // namespace gradcoll
