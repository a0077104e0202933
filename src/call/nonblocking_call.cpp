#include "call/nonblocking_call.hpp"

#include <new>
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "call/anywhere/grid_run.hpp"
#include "call/anywhere/integer_reduction.hpp"
#include "call/blocking.hpp"
#include "call/call_request.hpp"
#include "call/device_allreduce.hpp"
#include "call/progress_thread.hpp"
#include "call/tolerance/tolerant_run.hpp"
#include "reduce/widen.hpp"

namespace gradcoll {
namespace {

/// ProgramsRequest is the request that the program completes; a call that was refused has none.
class ProgramsRequest {
  public:
    Status make(const std::shared_ptr<CommContext>& context, const char* name,
                MPI_Request* request) {
        return take(made_.emplace(), CallRequest::make(context, name, request));
    }
    void complete(const Status& status) {
        if (made_) made_->complete(status);
    }

  private:
    std::optional<CallRequest> made_;
};

/// Kept holds what an operation needs until it is over.
class Kept {
  public:
    /// Takes over what the call keeps. `copies` makes copies in host memory of buffers that are on
    /// a device, which arguments() and memory() then name. Errors: those of twin_of().
    static Result<Kept> of(Call& call, bool copies) {
        Kept kept(call);
        kept.copy_ = std::move(call.copy);
        if (!copies) return kept;
        GRADCOLL_TRY(take(
            kept.twin_, twin_of(call.context.get(), call.arguments, call.memory, kept.twin_room_)));
        kept.arguments_ = kept.twin_->arguments();
        kept.memory_ = {};
        return kept;
    }
    Kept() = default;

    const CallArguments& arguments() const { return arguments_; }
    const CallMemory& memory() const { return memory_; }
    /// Copies the result to where the call wants it. Errors: those of devices.
    Status give_back() const { return twin_ ? twin_->give_back() : Status(); }

  private:
    explicit Kept(const Call& call) : arguments_(call.arguments), memory_(call.memory) {}

    CallArguments arguments_;
    CallMemory memory_;
    CopiedInput copy_;
    std::optional<HostTwin> twin_;
    DeviceArea twin_room_;
};

/// CallOnTree is a started operation on the tree. Its messages may be those of MPI.
class CallOnTree final : public StartedCall {
  public:
    static Result<std::shared_ptr<CallOnTree>> start(Call& call, MPI_Request* request) {
        const bool on_host = is_on_grid(call) && call.memory.any_device();
        auto kept = Kept::of(call, on_host || call.memory.any_unserved());
        const auto placed =
            kept ? place_call(*call.context, kept->arguments(), call.shape, kept->memory())
                 : Result<PlacedCall>(kept.status());
        if (!placed) {
            refuse_nonblocking(call, placed.status());
            return placed.status();
        }
        const auto started = std::make_shared<CallOnTree>();
        started->verdict_ = PendingVerdict(call.context->verdicts());
        started->kept_ = std::move(kept).value();
        GRADCOLL_TRY(started->begin(call, *placed));
        GRADCOLL_TRY(started->request_.make(call.context, call.entry->name, request));
        return started;
    }

    /// Starts the operation of a rank that refuses: what arrives goes to memory that nobody reads.
    static Result<std::shared_ptr<CallOnTree>> refuse(const Call& call, const Status& why) {
        const auto started = std::make_shared<CallOnTree>();
        const PendingVerdict against(call.context->verdicts());
        started->refusal_ = why;
        started->unread_.reset(new (std::nothrow) std::byte[call.shape.size_bytes()]);
        if (started->unread_ == nullptr) return Status(Code::out_of_memory, why.message());
        PlacedCall placed{call.arguments, nullptr};
        placed.arguments.sendbuf = MPI_IN_PLACE;
        placed.arguments.recvbuf = started->unread_.get();
        GRADCOLL_TRY(started->begin(call, placed));
        return started;
    }

    Turn advance(Mover mover) override {
        if (mover == Mover::helper) return Turn::idle;
        if (!is_over_) {
            const auto progress = go_on();
            if (progress.ok() && *progress != Progress::complete)
                return *progress == Progress::idle ? Turn::idle : Turn::advanced;
            end(progress.status());
        }
        if (!verdict_.settles(status_)) return Turn::idle;
        request_.complete(status_);
        return Turn::finished;
    }

  private:
    enum class Manner : std::uint8_t { at_once, with_look, on_grid };

    /// Returns whether the call is a sum whose result is to be the same anywhere.
    static bool is_on_grid(const Call& call) {
        return is_same_anywhere(call.context->settings().current(), call.shape) &&
               call.shape.op == ReduceOp::sum;
    }

    Result<Progress> go_on() {
        if (manner_ == Manner::on_grid) return on_grid_.advance();
        return manner_ == Manner::with_look ? tolerant_.advance() : lease_.executor->advance();
    }

    void end(const Status& status) {
        if (status.ok()) give_back_what_was_beside();
        context_->plans().end(std::move(lease_), status);
        status_ = status.ok() ? kept_.give_back() : status;
        is_over_ = true;
    }

    /// Gives back the leases beside that of the sum, which is `lease_` afterwards.
    void give_back_what_was_beside() {
        if (manner_ == Manner::with_look && tolerant_.is_wide()) std::swap(lease_, beside_);
        for (Lease* const beside : {&ahead_, &beside_})
            if (beside->call != nullptr)
                beside->call->give_back(std::move(beside->executor), /*waited=*/false);
    }

    Status begin(const Call& call, const PlacedCall& placed) {
        context_ = call.context;
        CallKey key = call.route.key;
        key.in_place = is_in_place(placed.arguments);
        if (is_on_grid(call)) return start_on_grid(call, placed);
        return keeps_tolerance(context_->settings().current(), call.shape)
                   ? start_with_look(call, key, placed)
                   : start_at_once(call, key, placed);
    }

    Status start_on_grid(const Call& call, const PlacedCall& placed) {
        manner_ = Manner::on_grid;
        CommPlans& plans = context_->plans();
        const GridRun::Keys keys =
            GridRun::keys_of(call.shape.type, call.shape.count, context_->settings().current());
        const CallKind kind = call.entry->kind;
        GRADCOLL_TRY(take(lease_, plans.begin(kind, keys.words, {})));
        GRADCOLL_TRY(take(ahead_, plans.begin(kind, keys.tops, {})));
        GRADCOLL_TRY(take(beside_, plans.begin(kind, keys.specials, {})));
        Binding binding = binding_of(placed.arguments, call.shape);
        if (!refusal_.ok()) binding.refusal = &refusal_;
        OperationNumber number = plans.numbers().take();
        binding.sequence = number.value();
        return on_grid_.start(
            {ahead_.executor.get(), lease_.executor.get(), beside_.executor.get()}, call.shape,
            binding, plans.scratch(), std::move(number));
    }

    Status start_at_once(const Call& call, const CallKey& key, const PlacedCall& placed) {
        CommPlans& plans = context_->plans();
        GRADCOLL_TRY(
            take(lease_, plans.begin(call.entry->kind, key, {.data_device = placed.device})));
        Binding binding = binding_of(placed.arguments, call.shape);
        binding.numbers = &plans.numbers();
        if (!refusal_.ok()) binding.refusal = &refusal_;
        return lease_.executor->start(binding);
    }

    /// Starts the run, which begins with a look at the inputs. If the vector is on a device or the
    /// call is refused, the other ranks are told so, and all give up.
    Status start_with_look(const Call& call, const CallKey& key, const PlacedCall& placed) {
        manner_ = Manner::with_look;
        CommPlans& plans = context_->plans();
        const bool on_host = placed.device == nullptr && refusal_.ok();
        if (on_host) GRADCOLL_TRY(take(lease_, plans.begin(call.entry->kind, key, {})));
        if (on_host && has_wider_type(key.type))
            GRADCOLL_TRY(
                take(beside_, plans.begin(call.entry->kind, TolerantRun::wide_key(key), {})));
        GRADCOLL_TRY(take(ahead_, plans.begin(call.entry->kind, TolerantRun::look_key(), {})));
        Binding binding = binding_of(placed.arguments, call.shape);
        OperationNumber number = plans.numbers().take();
        binding.sequence = number.value();
        return tolerant_.start(
            {ahead_.executor.get(), lease_.executor.get(), beside_.executor.get()},
            {context_, context_->tree_handle(), *context_->settings().current().tolerance,
             call.shape, key.compress},
            binding, std::move(number));
    }

    std::shared_ptr<CommContext> context_;
    Lease lease_;
    Manner manner_ = Manner::at_once;
    Lease ahead_;   ///< for what goes before the sum: a look, or the tops of blocks
    Lease beside_;  ///< for the same sum in a wider type, or for NaN and Inf
    TolerantRun tolerant_;
    GridRun on_grid_;
    Kept kept_;
    std::unique_ptr<std::byte[]> unread_;  ///< where the result goes of a rank that refuses
    Status refusal_;  ///< why this rank takes no part (Binding::refusal); ok if it does
    ProgramsRequest request_;
    bool is_over_ = false;  ///< whether only the verdict is waited for
    Status status_;
    PendingVerdict verdict_;
};

/// CallOnHost is an operation in the memory of one host; those of one communicator take turns.
class CallOnHost final : public StartedCall {
  public:
    static Result<std::shared_ptr<CallOnHost>> start(const HostStart& call, Kept kept,
                                                     MPI_Request* request) {
        const auto started = std::make_shared<CallOnHost>();
        started->verdict_ = PendingVerdict(call.context->verdicts());
        GRADCOLL_TRY(started->request_.make(call.context, call.name, request));
        started->context_ = call.context;
        started->operation_ = call.context->one_host().begin_allreduce(
            binding_of(call.arguments, call.shape), call.shape);
        started->kept_ = std::move(kept);
        return started;
    }

    static std::shared_ptr<CallOnHost> refuse(const Call& call, const Status& why) {
        const auto started = std::make_shared<CallOnHost>();
        const PendingVerdict against(call.context->verdicts());
        started->context_ = call.context;
        started->operation_ = call.context->one_host().begin_refusal(call.shape, why.code());
        return started;
    }

    Turn advance(Mover mover) override {
        bool advanced = false;
        if (!is_over_) {
            const auto progress = context_->one_host().advance(operation_);
            if (progress.ok() && *progress == Progress::idle) return Turn::idle;
            advanced = true;
            is_over_ = !progress.ok() || *progress == Progress::complete;
            status_ = progress.status();
        }
        if (!is_over_ || mover == Mover::helper) return advanced ? Turn::advanced : Turn::idle;
        if (status_.ok() && !std::exchange(is_given_back_, true)) status_ = kept_.give_back();
        if (!verdict_.settles(status_)) return advanced ? Turn::advanced : Turn::idle;
        request_.complete(status_);
        return Turn::finished;
    }

  private:
    std::shared_ptr<CommContext> context_;
    OneHost::Operation operation_;
    Kept kept_;
    ProgramsRequest request_;
    bool is_over_ = false;
    bool is_given_back_ = false;
    Status status_;
    PendingVerdict verdict_;
};

/// Vectors of this size on take so long that a program that computes meanwhile gains if the thread
/// is awake.
constexpr std::uint64_t least_urgent_bytes = 64 << 10;

Status start_and_give(const HostStart& call, Kept kept, MPI_Request* request) {
    const CommIdentity& comm = call.context->identity();
    const bool urgent =
        call.shape.size_bytes() >= least_urgent_bytes || !comm.all_ranks_see_completions();
    auto started = CallOnHost::start(call, std::move(kept), request);
    if (!started) return started.status();
    give_to_progress_thread(std::move(started).value(), {urgent, comm.yields()});
    advance_started_calls();  // the other ranks get this one's input now
    return {};
}

/// Starts an operation with copies of buffers that are on a device.
Status start_on_one_host(Call& call, MPI_Request* request) {
    auto kept = Kept::of(call, call.memory.any_device());
    if (!kept) {
        refuse_nonblocking(call, kept.status());
        return kept.status();
    }
    const CallArguments arguments = kept->arguments();
    return start_and_give({call.context, call.entry->name, arguments, call.shape},
                          std::move(kept).value(), request);
}

Result<std::shared_ptr<StartedCall>> start_refusal(const Call& call, const Status& why) {
    if (call.route.goes(one_host_way()))
        return std::shared_ptr<StartedCall>(CallOnHost::refuse(call, why));
    auto started = CallOnTree::refuse(call, why);
    if (!started) return started.status();
    return std::shared_ptr<StartedCall>(std::move(started).value());
}

}  // namespace

Status start_on_one_host(const HostStart& call, MPI_Request* request) {
    return start_and_give(call, {}, request);
}

namespace {

/// Reduces what a single rank has before the request is made, which is complete at once.
Status start_alone(Call& call, MPI_Request* request) {
    GRADCOLL_TRY(run_allreduce(call));
    ProgramsRequest made;
    GRADCOLL_TRY(made.make(call.context, call.entry->name, request));
    made.complete({});
    return {};
}

}  // namespace

Status start_nonblocking(Call& call, MPI_Request* request) {
    if (call.alone) return start_alone(call, request);
    if (call.route.goes(one_host_way())) return start_on_one_host(call, request);
    auto started = CallOnTree::start(call, request);
    if (!started) return started.status();
    give_to_progress_thread(std::move(started).value(), {true, call.context->identity().yields()});
    return {};
}

void refuse_nonblocking(const Call& call, const Status& why) {
    auto refusal = start_refusal(call, why);
    if (!refusal)
        return log(LogLevel::warn, "{}: the other ranks could not be told: {}", call.entry->name,
                   refusal.status().message());
    give_to_progress_thread(std::move(refusal).value(), {true, call.context->identity().yields()});
}

}  // namespace gradcoll
