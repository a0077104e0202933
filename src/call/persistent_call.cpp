#include "call/persistent_call.hpp"

#include <sched.h>

#include <utility>

#include "call/anywhere/integer_reduction.hpp"
#include "reduce/widen.hpp"
#include "ways/route.hpp"

namespace gradcoll {

Result<std::unique_ptr<PersistentCall>> PersistentCall::make(const Call& admitted,
                                                             const Settings& settings,
                                                             ChannelNumber number) {
    std::unique_ptr<PersistentCall> call(new PersistentCall);
    call->entry_ = *admitted.entry;
    call->context_ = admitted.context;
    call->arguments_ = admitted.arguments;
    call->shape_ = admitted.shape;
    call->pass_reason_ = admitted.pass_reason;
    call->settings_ = settings;
    call->number_ = number;
    GRADCOLL_TRY(call->set_up());
    return call;
}

PersistentCall::~PersistentCall() {
    Outcome ignored{Status()};
    while (!test(ignored)) sched_yield();
}

MPI_Comm PersistentCall::comm() const {
    return context_ != nullptr ? context_->identity().user_comm() : arguments_.comm;
}

Status PersistentCall::set_up() {
    if (pass_reason_ != PassReason::none || context_->identity().rank_count() == 1) return {};
    tree_ = context_->tree_handle();
    if (is_on_grid()) return plan_on_grid();
    wants_feedback_ = settings_.feedback && may_be_lossy(settings_, shape_) &&
                      shape_.size_bytes() >= settings_.min_bytes &&
                      shape_.size_bytes() <= settings_.max_bytes.value_or(UINT64_MAX) &&
                      settings_.compress_comms.allows(context_->identity().name());
    const Route route = route_of(settings_, shape_, question_at(step_));
    if (route.passes()) return {};
    const auto phase = phase_of(route.key);
    if (!phase) return phase.status();
    if (wants_feedback_)  // all phases have the layout of this one
        residual_ = std::make_shared<Residual>(
            identity_of(*(*phase)->call, tree_->tree, context_->identity().rank()));
    return {};
}

bool PersistentCall::is_anywhere() const {
    return pass_reason_ == PassReason::none && is_same_anywhere(settings_, shape_);
}

Status PersistentCall::plan_on_grid() {
    const GridRun::Keys keys = GridRun::keys_of(shape_.type, shape_.count, settings_);
    GRADCOLL_TRY(take(tops_, phase_of(keys.tops)));
    GRADCOLL_TRY(take(running_, phase_of(keys.words)));
    return take(specials_, phase_of(keys.specials));
}

RouteQuestion PersistentCall::question_at(std::int64_t step) const {
    return {.in_place = is_in_place(arguments_),
            .feedback = wants_feedback_,
            .step = step,
            .sums = shape_.sums()};
}

Result<PersistentCall::Phase> PersistentCall::plan(const CallKey& key,
                                                   std::shared_ptr<DeviceSide> device) const {
    Phase phase;
    GRADCOLL_TRY(take(phase.call,
                      context_->plans().plan_apart(tree_->tree, settings_, key, number_.channel)));
    GRADCOLL_TRY(take(phase.executor, phase.call->take_executor(
                                          {.waited = true, .data_device = std::move(device)})));
    return phase;
}

Result<PersistentCall::Phase*> PersistentCall::phase_of(const CallKey& key) {
    for (Phase& phase : phases_)
        if (phase.call->key() == key && phase.executor->data_device() == device_.get())
            return &phase;
    phases_.push_back(GRADCOLL_VALUE(plan(key, device_)));
    return &phases_.back();
}

Route PersistentCall::route_of_start() {
    if (number_.channel == nullptr) {
        Route route = context_->route(settings_, shape_, question_at(step_));
        if (keeps_tolerance(settings_, shape_) || is_anywhere())
            route.pass_reason = PassReason::none;
        return route;
    }
    RouteQuestion question = question_at(step_);
    question.comm_may_be_lossy = settings_.compress_comms.allows(context_->identity().name());
    Route route = route_of(settings_, shape_, question);
    route.pass_reason = PassReason::none;
    return route;
}

Outcome PersistentCall::start() {
    PassReason reason = pass_reason_;
    if (reason == PassReason::none && context_->identity().rank_count() == 1) {
        GRADCOLL_TRY(is_anywhere() ? reduce_alone_anywhere()
                                   : reduce_alone(*context_, entry_.kind, arguments_, shape_,
                                                  memory_of(arguments_, shape_)));
    } else {
        Route route;
        if (reason == PassReason::none) route = route_of_start();
        if (reason == PassReason::none) reason = route.pass_reason;
        Outcome begun =
            reason != PassReason::none ? start_passing(reason) : Outcome(start_on_tree(route.key));
        if (begun.mpi_code != MPI_SUCCESS) return begun;
    }
    started_ = true;
    ++step_;
    return Status();
}

/// Rounds what a single rank has as sums of many are rounded; test() copies it back to a device.
Status PersistentCall::reduce_alone_anywhere() {
    CallArguments arguments = arguments_;
    if (const CallMemory memory = memory_of(arguments_, shape_); memory.any_device()) {
        GRADCOLL_TRY(take(twin_, twin_of(context_.get(), arguments_, memory, twin_room_)));
        arguments = twin_->arguments();
    }
    context_->statistics().count_local(entry_.kind, shape_.size_bytes());
    return reduce_in_integers(shape_, binding_of(arguments, shape_), context_->plans().scratch(),
                              fill);
}

Outcome PersistentCall::start_passing(PassReason reason) {
    count_passed(context_.get(), entry_, arguments_, reason);
    const CallMemory memory = memory_of(arguments_);
    if (mpi_reaches(memory)) return pass_iallreduce(arguments_, &mpi_request_);
    GRADCOLL_TRY(take(twin_, twin_of(context_.get(), arguments_, memory, twin_room_)));
    return pass_iallreduce(twin_->arguments(), &mpi_request_);
}

/// Prepares a start on the tree, all but the number of its operation. Memory that only the MPI
/// library reaches is copied. If a tolerance is kept and the vector is on a device, the other ranks
/// are told so, and all give up.
Status PersistentCall::prepare(CallKey key, Binding& binding) {
    CallArguments arguments = arguments_;
    CallMemory memory = memory_of(arguments_, shape_);
    if (memory.any_unserved() || (is_on_grid() && memory.any_device())) {
        GRADCOLL_TRY(take(twin_, twin_of(context_.get(), arguments_, memory, twin_room_)));
        arguments = twin_->arguments();
        memory = {};
    }
    if (is_on_grid()) {
        before_ = running_->executor->stats();
        binding = binding_of(arguments, shape_);
        return {};
    }
    const auto placed = place_call(*context_, arguments, shape_, memory);
    if (!placed) return placed.status();
    device_ = placed->device;
    key.in_place = is_in_place(placed->arguments);
    is_tolerant_ = keeps_tolerance(settings_, shape_);
    running_ = wide_ = nullptr;
    if (!is_tolerant_ || device_ == nullptr) GRADCOLL_TRY(take(running_, phase_of(key)));
    if (is_tolerant_ && running_ != nullptr && has_wider_type(key.type))
        GRADCOLL_TRY(take(wide_, phase_of(TolerantRun::wide_key(key))));
    if (is_tolerant_ && !look_) GRADCOLL_TRY(take(look_, plan(TolerantRun::look_key(), nullptr)));
    if (running_ != nullptr) before_ = running_->executor->stats();
    if (wide_ != nullptr) wide_before_ = wide_->executor->stats();
    binding = binding_of(placed->arguments, shape_);
    return residual_ != nullptr ? take(binding.residual, residual_->data_for(device_)) : Status();
}

/// Returns null if survivors do not agree on this request. Ranks may start one with tags of its own
/// in different orders, and verdicts have one.
std::shared_ptr<Verdicts> PersistentCall::verdicts() const {
    const bool agrees = settings_.fault == Fault::survive && number_.channel == nullptr;
    return agrees ? context_->verdicts() : nullptr;
}

Status PersistentCall::start_on_tree(const CallKey& key) {
    const bool has_number = number_.channel != nullptr;
    PendingVerdict verdict(verdicts());
    Binding binding;
    if (const Status prepared = prepare(key, binding); !prepared.ok()) {
        if (!has_number) context_->plans().give_number_up();
        return prepared;
    }
    binding.sequence = number_.number;
    // With tags of its own, the request is the same operation at every start.
    if (has_number && !std::exchange(has_signed_, true)) binding.change = SignatureChange::changed;
    GRADCOLL_TRY(is_on_grid()   ? start_on_grid(binding)
                 : is_tolerant_ ? start_with_look(binding)
                                : start_at_once(binding));
    verdict_ = std::move(verdict);
    is_over_ = false;
    complete_ = false;
    if (!has_number) add_started_call(*this);
    return {};
}

Status PersistentCall::start_at_once(Binding binding) {
    if (number_.channel == nullptr) binding.numbers = &context_->plans().numbers();
    return running_->executor->start(binding);
}

Status PersistentCall::start_with_look(Binding binding) {
    OperationNumber number;
    if (number_.channel == nullptr) {
        number = context_->plans().numbers().take();
        binding.sequence = number.value();
    }
    const auto executor_of = [](const Phase* phase) {
        return phase != nullptr ? phase->executor.get() : nullptr;
    };
    return tolerant_.start({look_->executor.get(), executor_of(running_), executor_of(wide_)},
                           {context_, tree_, *settings_.tolerance, shape_,
                            running_ != nullptr && running_->call->key().compress},
                           binding, std::move(number));
}

Status PersistentCall::start_on_grid(Binding binding) {
    OperationNumber number;
    if (number_.channel == nullptr) {
        number = context_->plans().numbers().take();
        binding.sequence = number.value();
    }
    return on_grid_.start(
        {tops_->executor.get(), running_->executor.get(), specials_->executor.get()}, shape_,
        binding, context_->plans().scratch(), std::move(number));
}

Result<Progress> PersistentCall::go_on() {
    if (is_on_grid()) return on_grid_.advance();
    return is_tolerant_ ? tolerant_.advance() : running_->executor->advance();
}

StartedCall::Turn PersistentCall::advance(Mover mover) {
    if (complete_.load(std::memory_order_relaxed)) return Turn::finished;  // of a single rank
    if (mover == Mover::helper) return Turn::idle;  // its messages may be MPI's
    if (!is_over_) {
        const auto progress = go_on();
        if (progress.ok() && *progress != Progress::complete)
            return *progress == Progress::idle ? Turn::idle : Turn::advanced;
        end(progress.status());
    }
    if (!verdict_.settles(status_)) return Turn::idle;
    complete_.store(true, std::memory_order_release);
    return Turn::finished;
}

/// Notes how the operation has ended on this rank.
void PersistentCall::end(const Status& status) {
    is_over_ = true;
    status_ = status;
    if (!status.ok()) return;
    const bool is_wide = is_tolerant_ && tolerant_.is_wide();
    const Phase& ran = is_wide ? *wide_ : *running_;
    count_tree_call(context_->statistics(),
                    {CallKind::persistent, false, *ran.call, is_wide ? wide_before_ : before_,
                     ran.executor->stats(), 0});
}

bool PersistentCall::test(Outcome& outcome) {
    if (!started_) return true;
    if (mpi_request_ != MPI_REQUEST_NULL) {
        int done = 0;
        const int code = PMPI_Test(&mpi_request_, &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && done == 0) {
            advance_started_calls();
            return false;
        }
        outcome = Outcome::passed(code);
    } else {
        if (!complete_.load(std::memory_order_acquire)) advance_started_calls();
        if (!complete_.load(std::memory_order_acquire)) return false;
        outcome = status_;
        status_ = {};
    }
    if (twin_ && outcome.mpi_code == MPI_SUCCESS) outcome = twin_->give_back();
    twin_.reset();
    started_ = false;
    return true;
}

}  // namespace gradcoll
