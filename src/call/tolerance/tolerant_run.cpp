#include "call/tolerance/tolerant_run.hpp"

#include <utility>

#include "reduce/widen.hpp"

namespace gradcoll {

CallKey TolerantRun::look_key() {
    CallKey key;
    key.type = ElementType::f64;
    key.elem_bytes = sizeof(double);
    key.count = std::tuple_size_v<InputReport>;
    key.in_place = true;
    return key;
}

CallKey TolerantRun::wide_key(CallKey key) {
    key.type = wider_type(key.type);
    key.elem_bytes = static_cast<std::uint32_t>(element_bytes(key.type));
    key.in_place = true;
    return key;
}

Status TolerantRun::start(const Executors& executors, Sum sum, const Binding& binding,
                          OperationNumber number) {
    executors_ = executors;
    sum_ = std::move(sum);
    binding_ = binding;
    number_ = std::move(number);
    stage_ = Stage::awaiting_turn;
    report_ = report_of(sum_.shape, values());
    return number_.has_turn() ? begin_look(Stage::looking) : Status();
}

LossTerms TolerantRun::terms() const {
    LossTerms terms{
        .tolerance = sum_.tolerance,
        .sum = {sum_.shape.type, sum_.tree->tree.rank_count(), longest_chain(sum_.tree->tree)},
        .size_bytes = sum_.shape.size_bytes(),
        .compress = sum_.compress};
    if (sum_.compress) terms.parts = executors_.main->plan().loss_parts;
    return terms;
}

Status TolerantRun::begin_look(Stage stage) {
    Binding look;
    look.input = look.output = report_.data();
    look.reducer = reducer_for(ReduceOp::max, ElementType::f64);
    look.op = ReduceOp::max;
    look.sequence = binding_.sequence;
    GRADCOLL_TRY(executors_.look->start(look));
    stage_ = stage;
    return {};
}

/// Goes on after a look: to the next one, or to the sum.
Status TolerantRun::settle_inputs() {
    if (stage_ == Stage::looking) {
        inputs_ = GRADCOLL_VALUE(inputs_of(report_));
        budget_ = settle(sum_.context->identity(), terms(), inputs_);
        if (needs_digits(budget_)) {
            report_ = digits_report_of(sum_.shape, values());
            return begin_look(Stage::looking_at_digits);
        }
    } else {
        budget_ = settle_digits(budget_, terms(), inputs_, report_);
    }
    if (is_wide())
        GRADCOLL_TRY(take(
            wide_, WideVector::make(sum_.shape.type, static_cast<std::size_t>(sum_.shape.count))));
    return begin_sum();
}

Status TolerantRun::begin_sum() {
    Binding binding = binding_;
    binding.tolerance = budget_.for_encodings;
    if (is_wide()) {
        wide_.fill(binding_.input);
        binding.input = binding.output = wide_.data();
        binding.reducer = reducer_for(ReduceOp::sum, budget_.added_in);
    }
    GRADCOLL_TRY((is_wide() ? executors_.wide : executors_.main)->start(binding));
    stage_ = Stage::running;
    return {};
}

/// Ends the sum, or has it made again. All ranks have the same result, and find the same.
Result<Progress> TolerantRun::end_sum() {
    double off = budget_.additions;
    if (is_wide()) {
        const auto count = static_cast<std::size_t>(sum_.shape.count);
        const auto round = [&](void* output) {
            return wide_.round(count, budget_.off_before_rounding(), output);
        };
        if (!budget_.is_sure) off = round(nullptr);
        if (budget_.must_be_made_again(off)) {
            budget_.for_encodings = 0;
            GRADCOLL_TRY(begin_sum());
            return Progress::advanced;
        }
        round(binding_.output);
    }
    if (!budget_.is_sure && !budget_.allows(off))
        return not_kept(budget_, sum_.tolerance, sum_.shape, off);
    return Progress::complete;
}

Result<Progress> TolerantRun::go_on() {
    if (stage_ == Stage::awaiting_turn) {
        if (!number_.has_turn()) return Progress::idle;
        GRADCOLL_TRY(begin_look(Stage::looking));
        return Progress::advanced;
    }
    const bool is_running = stage_ == Stage::running;
    Executor* const sums = is_wide() ? executors_.wide : executors_.main;
    const auto progress = (is_running ? sums : executors_.look)->advance();
    if (!progress.ok() || *progress != Progress::complete) return progress;
    if (is_running) return end_sum();
    GRADCOLL_TRY(settle_inputs());
    return Progress::advanced;
}

Result<Progress> TolerantRun::advance() {
    const Result<Progress> progress = go_on();
    if (!progress.ok() || *progress == Progress::complete) number_.end();
    return progress;
}

}  // namespace gradcoll
