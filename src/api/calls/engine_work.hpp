// api/calls/engine_work.hpp - what an engine runs for one gradient: a plan of ours, the MPI
// library's own allreduce, or a copy where a rank is alone.
#pragma once

#include <memory>

#include "api/comm/comm_context.hpp"
#include "api/edge/request.hpp"
#include "engine/engine.hpp"
#include "gradcoll/engine.h"

/// What the opaque handle of the C API points to. It lives as long as its gradient's work.
struct GC_Handle_s {
    GC_Engine engine = nullptr;
    gradcoll::Gradient* gradient = nullptr;
};

namespace gradcoll {

/// The sum of one gradient again and again, each time with buffers of its own.
class EngineWork : public Work {
  public:
    /// Of the next sum. Not while one is under way.
    void bind(const CallArguments& arguments, const CallShape& shape) {
        arguments_ = arguments;
        shape_ = shape;
    }
    GC_Handle_s& handle() { return handle_; }
    /// By this rank, for each sum.
    virtual std::uint64_t sent_bytes() const { return shape_.size_bytes(); }

  protected:
    CallArguments arguments_;
    CallShape shape_;

  private:
    GC_Handle_s handle_;
};

/// Over a plan. The references must outlive it.
class PlannedWork final : public EngineWork {
  public:
    PlannedWork(CommContext& context, std::shared_ptr<PlannedCall> call,
                std::unique_ptr<Executor> executor)
        : context_(context),
          call_(std::move(call)),
          executor_(std::move(executor)),
          sent_bytes_(gradcoll::bytes_sent(call_->plan())) {}

    const PlannedCall& call() const { return *call_; }
    std::uint64_t sent_bytes() const override { return sent_bytes_; }
    Status start() override;
    Result<Progress> advance() override;
    std::size_t take_local(std::span<LocalStep> out) override { return executor_->take_local(out); }
    void abandon() override { executor_.reset(); }

  private:
    CommContext& context_;
    std::shared_ptr<PlannedCall> call_;
    std::unique_ptr<Executor> executor_;
    std::uint64_t sent_bytes_;
    RunStats before_;
};

/// Through the memory of one host; such sums take turns.
class HostWork final : public EngineWork {
  public:
    explicit HostWork(CommContext& context) : context_(context) {}

    Status start() override;
    Result<Progress> advance() override;
    std::size_t take_local(std::span<LocalStep>) override { return 0; }
    /// Nothing is written but in advance().
    void abandon() override {}

  private:
    CommContext& context_;
    OneHost::Operation operation_;
};

/// By the MPI library, on the context's own communicator: all ranks start such sums in one order.
class PassedWork final : public EngineWork {
  public:
    PassedWork(CommContext& context, PassReason reason) : context_(context), reason_(reason) {}

    Status start() override;
    Result<Progress> advance() override;
    std::size_t take_local(std::span<LocalStep>) override { return 0; }
    /// MPI knows no way to take a collective call back: it may still write.
    void abandon() override {}

  private:
    CommContext& context_;
    PassReason reason_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Of a single rank: the input is the result.
class AloneWork final : public EngineWork {
  public:
    explicit AloneWork(CommContext& context) : context_(context) {}

    Status start() override;
    Result<Progress> advance() override { return Progress::complete; }
    std::size_t take_local(std::span<LocalStep>) override { return 0; }
    void abandon() override {}

  private:
    CommContext& context_;
};

}  // namespace gradcoll
