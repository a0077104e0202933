// call/gradients/gradient_sum.hpp - what an engine runs for one gradient: a plan of this library,
// the MPI library's own allreduce, or a copy where a rank is alone.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "call/anywhere/grid_run.hpp"
#include "call/device_allreduce.hpp"
#include "call/gradients/gradient_choice.hpp"
#include "call/gradients/gradient_hosts.hpp"
#include "engine/engine.hpp"
#include "gradcoll/engine.h"
#include "mpi/request.hpp"
#include "runtime/tags.hpp"
#include "ways/comm_context.hpp"
#include "ways/tree/residual.hpp"

/// GC_Handle_s is what the opaque handle of the C API points to. It lives as long as its gradient's
/// work.
struct GC_Handle_s {
    GC_Engine engine = nullptr;
    gradcoll::Gradient* gradient = nullptr;
};

namespace gradcoll {

/// GradientSum sums one gradient again and again, each time with buffers of its own. The context
/// must outlive it. Unless a subclass says otherwise it has no local steps, and writes to the
/// buffers only in advance().
class GradientSum : public Work {
  public:
    explicit GradientSum(CommContext& context) : context_(context) {}

    /// Sets the buffers of the next sum; not called while one is under way.
    void bind(const CallArguments& arguments, const CallShape& shape) {
        arguments_ = arguments;
        shape_ = shape;
    }
    /// Sets them with `copy`, which holds them in place of memory of a device while the sum is
    /// under way; if it is null they are where the program has them.
    void bind(const CallArguments& arguments, const CallShape& shape, const HostTwin* copy) {
        bind(arguments, shape);
        copy_ = copy;
    }
    /// Says in which parts the vector of the next sum lies (Binding::parts), and how many bytes of
    /// it are gradients, which alone are counted.
    void lie_in(std::span<const VectorPart> parts, std::uint64_t gradient_bytes) {
        parts_ = parts;
        gradient_bytes_ = gradient_bytes;
    }
    Status deliver() override { return copy_ != nullptr ? copy_->give_back() : Status(); }
    const CallShape& shape() const { return shape_; }
    /// Returns the plan that this rank has for it; null if it has none.
    virtual const PlannedCall* call() const { return nullptr; }
    /// Returns what keeps the dropped values of a gradient that is part of packs; null: nothing.
    virtual Residual* dropped() const { return nullptr; }
    /// Returns how many parts the vector is cut into.
    virtual std::int64_t parts() const { return 1; }
    const void* input() const { return binding_of(arguments_, shape_).input; }
    void* output() const { return arguments_.recvbuf; }
    /// These members belong to the code that made it.
    GC_Handle_s handle;
    GradientWay way;
    double links_carry = 1;  ///< the way was chosen for this (Gradient::links_carry())
    ExpectedTime expected;   ///< how long each sum should take, if links are watched
    std::string shape_text;  ///< what ranks must have alike of its last sum, for people
    std::uint64_t shape_hash = 0;
    /// Returns how many bytes this rank sends for each sum.
    virtual std::uint64_t sent_bytes() const { return shape_.size_bytes(); }
    std::size_t take_local(std::span<LocalStep>) override { return 0; }
    void abandon() override {}

  protected:
    /// Gives a sum its gradient's number, so that its messages are not taken for those of others.
    /// Errors: unsupported if there are not so many tags.
    Status take_own_number(const TagLayout& own_tags, Binding& binding) const;
    Binding binding() const {
        Binding binding = binding_of(arguments_, shape_);
        binding.parts = parts_;
        return binding;
    }

    CommContext& context_;
    CallArguments arguments_;
    CallShape shape_;
    std::span<const VectorPart> parts_;
    std::uint64_t gradient_bytes_ = 0;  ///< 0: the whole vector

  private:
    const HostTwin* copy_ = nullptr;
};

/// PlannedWork sums over a plan.
class PlannedWork final : public GradientSum {
  public:
    /// `residual` keeps what encoders drop for the next sum; if it is null, this is lost.
    /// `own_tags` are those of the plan's channel if the gradient's number keeps its messages
    /// apart; without them sums are numbered as they begin.
    PlannedWork(CommContext& context, std::shared_ptr<PlannedCall> call,
                std::unique_ptr<Executor> executor, std::shared_ptr<Residual> residual,
                std::optional<TagLayout> own_tags)
        : GradientSum(context),
          call_(std::move(call)),
          executor_(std::move(executor)),
          residual_(std::move(residual)),
          own_tags_(own_tags),
          sent_bytes_(gradcoll::bytes_sent(call_->plan())) {}

    const PlannedCall* call() const override { return call_.get(); }
    std::uint64_t sent_bytes() const override { return sent_bytes_; }
    std::int64_t parts() const override {
        return std::max<std::int64_t>(call_->plan().chunk_count, 1);
    }
    Status start() override;
    Result<Progress> advance() override;
    std::size_t take_local(std::span<LocalStep> out) override { return executor_->take_local(out); }
    void abandon() override { executor_.reset(); }

  private:
    std::shared_ptr<PlannedCall> call_;
    std::unique_ptr<Executor> executor_;
    std::shared_ptr<Residual> residual_;
    std::optional<TagLayout> own_tags_;
    std::uint64_t sent_bytes_;
    RunStats before_;
};

/// GridWork sums on a grid over plans of all ranks (gc_reproducible=anywhere).
class GridWork final : public GradientSum {
  public:
    struct Step {
        std::shared_ptr<PlannedCall> call;
        std::unique_ptr<Executor> executor;
    };
    struct Steps {
        Step tops, words, specials;
    };
    /// `own_tags` are those of PlannedWork.
    GridWork(CommContext& context, Steps steps, std::optional<TagLayout> own_tags)
        : GradientSum(context), steps_(std::move(steps)), own_tags_(own_tags) {}

    const PlannedCall* call() const override { return steps_.words.call.get(); }
    std::uint64_t sent_bytes() const override { return bytes_sent(steps_.words.call->plan()); }
    Status start() override;
    Result<Progress> advance() override;
    void abandon() override { steps_ = {}; }

  private:
    Steps steps_;
    std::optional<TagLayout> own_tags_;
    GridRun run_;
    RunStats before_;
};

/// HostWork sums through the memory of one host; such sums take turns.
class HostWork final : public GradientSum {
  public:
    using GradientSum::GradientSum;

    Status start() override;
    Result<Progress> advance() override;

  private:
    OneHost::Operation operation_;
};

/// HostsWork sums through the memory of each host, and over a plan of the hosts' leaders.
class HostsWork final : public GradientSum {
  public:
    /// `call` is the plan of the leaders' sum, and `between` runs it; both are null on other ranks.
    /// `residual` keeps what that sum drops; if it is null, this is lost.
    HostsWork(CommContext& context, GradientHosts& hosts, std::shared_ptr<PlannedCall> call,
              std::unique_ptr<Executor> between, std::shared_ptr<Residual> residual)
        : GradientSum(context),
          hosts_(hosts),
          call_(std::move(call)),
          between_(std::move(between)),
          residual_(std::move(residual)) {}

    const PlannedCall* call() const override { return call_.get(); }
    std::uint64_t sent_bytes() const override;
    std::int64_t parts() const override;
    Status start() override;
    Result<Progress> advance() override;
    std::size_t take_local(std::span<LocalStep> out) override { return sum_.take_local(out); }
    void abandon() override {
        between_.reset();
        hosts_.spoil();
    }

  private:
    void count();

    GradientHosts& hosts_;
    std::shared_ptr<PlannedCall> call_;
    std::unique_ptr<Executor> between_;
    std::shared_ptr<Residual> residual_;
    HostsSum sum_;
    RunStats before_;
};

/// PassedWork lets the MPI library sum, on the context's own communicator: all ranks start such
/// sums in one order. MPI cannot take a collective call back, so one that is abandoned may still
/// write.
class PassedWork final : public GradientSum {
  public:
    using GradientSum::GradientSum;

    Status start() override;
    Result<Progress> advance() override;

  private:
    MPI_Request request_ = MPI_REQUEST_NULL;
};

/// PartWork stands for a gradient whose sums are always parts of packs.
class PartWork final : public GradientSum {
  public:
    /// `residual` keeps what encoders drop of it, by element; if it is null, this is lost.
    PartWork(CommContext& context, std::shared_ptr<Residual> residual, std::uint64_t sent_bytes)
        : GradientSum(context), residual_(std::move(residual)), sent_bytes_(sent_bytes) {}

    bool is_part_of_packs() const override { return true; }
    Residual* dropped() const override { return residual_.get(); }
    std::uint64_t sent_bytes() const override { return sent_bytes_; }
    Status start() override;
    Result<Progress> advance() override { return Progress::complete; }

  private:
    std::shared_ptr<Residual> residual_;
    std::uint64_t sent_bytes_;
};

/// AloneWork serves a single rank, whose input is the result.
class AloneWork final : public GradientSum {
  public:
    using GradientSum::GradientSum;

    Status start() override;
    Result<Progress> advance() override { return Progress::complete; }
};

}  // namespace gradcoll
