// call/tolerance/tolerant_run.hpp - how a call that nobody waits in keeps gc_tolerance: a short
// exact allreduce over the tree, of what its ranks tell of their inputs, goes before it.
#pragma once

#include <memory>

#include "call/tolerance/tolerance.hpp"
#include "call/tolerance/wide_sum.hpp"
#include "runtime/executor.hpp"
#include "runtime/operation_numbers.hpp"

namespace gradcoll {

/// All go under one number, one behind the other: messages keep their order, as those of two
/// operations of one number do. Where the tolerance leaves codecs too little, they lose nothing:
/// all blocks travel as plain elements. Stays where it is while it runs; never waits.
class TolerantRun {
  public:
    /// The plan of what goes before.
    static CallKey look_key();
    /// The plan of the same sum in the wider type, in which all codecs that keep a tolerance are
    /// defined.
    static CallKey wide_key(CallKey key);

    /// All rest, and stay until the run has ended. Only `look` where the input cannot be read; no
    /// `wide` where the type has no wider one.
    struct Executors {
        Executor* look = nullptr;
        Executor* main = nullptr;
        Executor* wide = nullptr;
    };
    /// What is to be kept, of which call.
    struct Sum {
        std::shared_ptr<CommContext> context;
        std::shared_ptr<const DiscoveredTree> tree;
        ResultTolerance tolerance;
        CallShape shape;
        bool compress = false;
    };
    /// `number`: empty if the binding has its number (Binding::sequence). Errors: those of
    /// Executor::start().
    Status start(const Executors& executors, Sum sum, const Binding& binding,
                 OperationNumber number);
    /// As Executor::advance(). Errors: also unsupported, on every rank, if some rank's input could
    /// not be read, or the tolerance is not kept; then the output holds what is nearest.
    Result<Progress> advance();
    /// Whether the wider type's executor made the sum. After it has ended.
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
