#include "api/calls/tolerant_run.hpp"

#include <utility>

namespace gradcoll {

CallKey TolerantRun::look_key() {
    CallKey key;
    key.type = ElementType::f64;
    key.elem_bytes = sizeof(double);
    key.count = std::tuple_size_v<InputReport>;
    key.in_place = true;
    return key;
}

Status TolerantRun::start(const Executors& executors, std::shared_ptr<CommContext> context,
                          std::shared_ptr<const DiscoveredTree> tree, const LossTerms& terms,
                          const InputReport& mine, const Binding& binding, OperationNumber number) {
    executors_ = executors;
    context_ = std::move(context);
    tree_ = std::move(tree);
    terms_ = terms;
    report_ = mine;
    binding_ = binding;
    number_ = std::move(number);
    stage_ = Stage::awaiting_turn;
    return number_.has_turn() ? begin_look() : Status();
}

Status TolerantRun::begin_look() {
    Binding look;
    look.input = look.output = report_.data();
    look.reducer = reducer_for(ReduceOp::max, ElementType::f64);
    look.op = ReduceOp::max;
    look.sequence = binding_.sequence;
    GRADCOLL_TRY(executors_.look->start(look));
    stage_ = Stage::looking;
    return {};
}

Status TolerantRun::begin_main() {
    const Extent inputs = GRADCOLL_VALUE(inputs_of(report_));
    binding_.tolerance = settle(context_->identity(), tree_->tree, terms_, inputs).for_encodings;
    GRADCOLL_TRY(executors_.main->start(binding_));
    stage_ = Stage::running;
    return {};
}

Result<Progress> TolerantRun::go_on() {
    if (stage_ == Stage::awaiting_turn) {
        if (!number_.has_turn()) return Progress::idle;
        GRADCOLL_TRY(begin_look());
        return Progress::advanced;
    }
    if (stage_ == Stage::running) return executors_.main->advance();
    const Result<Progress> looked = executors_.look->advance();
    if (!looked.ok() || *looked != Progress::complete) return looked;
    GRADCOLL_TRY(begin_main());
    return Progress::advanced;
}

Result<Progress> TolerantRun::advance() {
    const Result<Progress> progress = go_on();
    if (!progress.ok() || *progress == Progress::complete) number_.end();
    return progress;
}

}  // namespace gradcoll
