#include "call/gradients/gradient_sum.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "call/anywhere/integer_reduction.hpp"

namespace gradcoll {

Status GradientSum::take_own_number(const TagLayout& own_tags, Binding& binding) const {
    binding.sequence = handle.gradient->number();
    if (binding.sequence < own_tags.sequence_count()) return {};
    return {Code::unsupported,
            fmt::format("gradient \"{}\" is the {}th of its engine; with gc_engine=coordinator=off "
                        "this MPI library has tags for {}",
                        printable(handle.gradient->name()), binding.sequence + 1,
                        own_tags.sequence_count())};
}

Status PlannedWork::start() {
    before_ = executor_->stats();
    Binding binding = this->binding();
    if (own_tags_)
        GRADCOLL_TRY(take_own_number(*own_tags_, binding));
    else
        binding.numbers = &context_.plans().numbers();
    if (residual_ != nullptr) GRADCOLL_TRY(take(binding.residual, residual_->data_for({})));
    return executor_->start(binding);
}

Result<Progress> PlannedWork::advance() {
    auto progress = executor_->advance_messages();
    if (progress.ok() && *progress == Progress::complete)
        count_tree_call(context_.statistics(), {CallKind::submitted, false, *call_, before_,
                                                executor_->stats(), 0, gradient_bytes_});
    return progress;
}

Status GridWork::start() {
    before_ = steps_.words.executor->stats();
    Binding binding = this->binding();
    OperationNumber number;
    if (own_tags_) {
        GRADCOLL_TRY(take_own_number(*own_tags_, binding));
    } else {
        number = context_.plans().numbers().take();
        binding.sequence = number.value();
    }
    return run_.start(
        {steps_.tops.executor.get(), steps_.words.executor.get(), steps_.specials.executor.get()},
        shape_, binding, context_.plans().scratch(), std::move(number));
}

Result<Progress> GridWork::advance() {
    auto progress = run_.advance();
    if (progress.ok() && *progress == Progress::complete)
        count_tree_call(context_.statistics(),
                        {CallKind::submitted, false, *steps_.words.call, before_,
                         steps_.words.executor->stats(), 0, shape_.size_bytes()});
    return progress;
}

Status HostWork::start() {
    CallShape shape = shape_;
    if (way.on_grid) shape.reducer = grid_reducer(shape.type);
    Binding binding = this->binding();
    binding.reducer = shape.reducer;
    operation_ = context_.one_host().begin_allreduce(binding, shape, CallKind::submitted);
    return {};
}

Result<Progress> HostWork::advance() {
    return context_.one_host().advance(operation_);
}

std::uint64_t HostsWork::sent_bytes() const {
    return call_ != nullptr ? bytes_sent(call_->plan()) : shape_.size_bytes();
}

std::int64_t HostsWork::parts() const {
    return call_ != nullptr ? std::max<std::int64_t>(call_->plan().chunk_count, 1) : 1;
}

Status HostsWork::start() {
    HostsSum::Call call{.lanes = hosts_.lanes(),
                        .binding = binding(),
                        .shape = shape_,
                        .between = between_.get(),
                        .leaves_steps = true};
    if (between_ != nullptr) {
        before_ = between_->stats();
        call.binding.numbers = &hosts_.plans().numbers();
        if (residual_ != nullptr)
            call.so_far = take(call.binding.residual, residual_->data_for({}));
    }
    sum_.start(call);
    sum_.come_down();
    return {};
}

Result<Progress> HostsWork::advance() {
    auto progress = sum_.advance();
    if (progress.ok() && *progress == Progress::complete) count();
    return progress;
}

void HostsWork::count() {
    const std::uint64_t whole = gradient_bytes_ != 0 ? gradient_bytes_ : shape_.size_bytes();
    const std::uint64_t in_memory = hosts_.is_alone() ? 0 : shape_.size_bytes();
    CallRecord record;
    record.kind = CallKind::submitted;
    record.bytes = whole;
    record.bytes_sent = record.bytes_sent_exact = in_memory;
    record.lossy = way.key.compress;
    if (call_ != nullptr) {
        const RunStats& after = between_->stats();
        record.bytes_sent += after.bytes_sent - before_.bytes_sent;
        record.bytes_sent_exact += call_->exact_bytes();
        record.packed_away_bytes = after.packed_away_bytes - before_.packed_away_bytes;
        record.messages_sent = after.messages_sent - before_.messages_sent;
        record.codec_ns = after.codec_ns - before_.codec_ns;
    }
    context_.statistics().count_served(record);
}

Status PassedWork::start() {
    context_.statistics().count_passed(
        CallKind::submitted, plain_bytes(arguments_.count, arguments_.datatype), way.pass_reason);
    CallArguments ours = arguments_;
    ours.comm = context_.identity().private_comm();
    return pass_iallreduce(ours, &request_).as_status("MPI_Iallreduce");
}

Result<Progress> PassedWork::advance() {
    int done = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test"));
    return done != 0 ? Progress::complete : Progress::idle;
}

Status PartWork::start() {
    return {Code::internal, "a gradient that is summed in packs was begun by itself"};
}

Status AloneWork::start() {
    if (way.on_grid)
        return reduce_in_integers(shape_, binding_of(arguments_, shape_),
                                  context_.plans().scratch(), fill);
    return reduce_alone(context_, CallKind::submitted, arguments_, shape_, {});
}

}  // namespace gradcoll
