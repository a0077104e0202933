// api/calls/tolerant_run.hpp - how a call that nobody waits in keeps gc_tolerance: a short exact
// allreduce over the tree, of what its ranks tell of their inputs, goes before it.
#pragma once

#include <memory>

#include "api/calls/tolerance.hpp"
#include "runtime/executor.hpp"
#include "runtime/operation_numbers.hpp"

namespace gradcoll {

/// Both go under one number, one behind the other: messages keep their order, as those of two
/// operations of one number do. Where the tolerance leaves codecs too little, they lose nothing:
/// all blocks travel as plain elements. Stays where it is while it runs; never waits.
class TolerantRun {
  public:
    /// The plan of what goes before.
    static CallKey look_key();

    /// Both rest, and stay until the run has ended; no `main` where the input cannot be read.
    struct Executors {
        Executor* look = nullptr;
        Executor* main = nullptr;
    };
    /// `number`: empty if the binding has its number (Binding::sequence). Errors: those of
    /// Executor::start().
    Status start(const Executors& executors, std::shared_ptr<CommContext> context,
                 std::shared_ptr<const DiscoveredTree> tree, const LossTerms& terms,
                 const InputReport& mine, const Binding& binding, OperationNumber number);
    /// As Executor::advance(). Errors: also unsupported, on every rank, if some rank's input could
    /// not be read.
    Result<Progress> advance();

  private:
    enum class Stage : std::uint8_t { awaiting_turn, looking, running };

    Result<Progress> go_on();
    Status begin_look();
    Status begin_main();

    Executors executors_;
    std::shared_ptr<CommContext> context_;
    std::shared_ptr<const DiscoveredTree> tree_;
    LossTerms terms_;
    InputReport report_ = {};  ///< this rank's, then all ranks'
    Binding binding_;
    OperationNumber number_;
    Stage stage_ = Stage::awaiting_turn;
};

}  // namespace gradcoll
