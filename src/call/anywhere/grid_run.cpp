#include "call/anywhere/grid_run.hpp"

#include <utility>

namespace gradcoll {
namespace {

CallKey key_of(ElementType type, std::size_t count) {
    CallKey key;
    key.type = type;
    key.elem_bytes = static_cast<std::uint32_t>(element_bytes(type));
    key.count = static_cast<std::int64_t>(count);
    key.in_place = true;
    return key;
}

}  // namespace

GridRun::Keys GridRun::keys_of(ElementType type, std::int64_t count_elems,
                               const Settings& settings) {
    const auto count = static_cast<std::size_t>(count_elems);
    Keys keys{key_of(ElementType::u16, 2 * grid_blocks(count)),
              key_of(ElementType::i64, GridSum::word_count(type, count, settings.check_sums)),
              key_of(ElementType::u8, count)};
    keys.words.compress = keys.words.words = true;
    return keys;
}

Status GridRun::start(const Executors& executors, const CallShape& shape, const Binding& binding,
                      ScratchPool& scratch, OperationNumber number) {
    executors_ = executors;
    binding_ = binding;
    number_ = std::move(number);
    stage_ = Stage::awaiting_turn;
    refusal_ = binding.refusal != nullptr ? *binding.refusal : Status();
    const Plan& words = executors.words->plan();
    const auto data_words = shape.count * static_cast<std::int64_t>(grid_words(shape.type));
    const int checked_ranks = words.spec.count_elems > data_words ? words.rank_count : 0;
    if (refusal_.ok()) refusal_ = take(sum_, GridSum::make(shape, binding, scratch, checked_ranks));
    if (!refusal_.ok()) room_.resize(grid_blocks(static_cast<std::size_t>(shape.count)));
    return number_.has_turn() ? begin_tops() : Status();
}

Status GridRun::begin(Stage stage, Executor& executor, const IntegerStep& step) {
    Binding binding;
    binding.input = binding.output = step.data;
    const Classified classified = classify(step.count, step.datatype, step.op);
    binding.reducer = classified.shape.reducer;
    binding.op = classified.shape.op;
    binding.sequence = binding_.sequence;
    if (stage == Stage::words) binding.check = &sum_;
    if (!refusal_.ok()) binding.refusal = &refusal_;
    GRADCOLL_TRY(executor.start(binding));
    running_ = &executor;
    stage_ = stage;
    return {};
}

Status GridRun::begin_tops() {
    return begin(Stage::tops, *executors_.tops,
                 refusal_.ok() ? sum_.tops() : GridSum::tops_in(room_));
}

/// Goes on after a step: to the next one, or to the result.
Result<Progress> GridRun::settle() {
    if (stage_ == Stage::words) {
        sum_.finish();
        return Progress::complete;
    }
    if (stage_ == Stage::tops) {
        const IntegerStep specials = sum_.specials(GridSum::SpecialsLie::in_place);
        if (specials.count > 0) {
            GRADCOLL_TRY(begin(Stage::specials, *executors_.specials, specials));
            return Progress::advanced;
        }
    }
    const IntegerStep words = sum_.words();
    sum_.fill(0, static_cast<std::size_t>(words.count));
    GRADCOLL_TRY(begin(Stage::words, *executors_.words, words));
    return Progress::advanced;
}

Result<Progress> GridRun::go_on() {
    if (stage_ == Stage::awaiting_turn) {
        if (!number_.has_turn()) return Progress::idle;
        GRADCOLL_TRY(begin_tops());
        return Progress::advanced;
    }
    const auto progress = running_->advance();
    return progress.ok() && *progress == Progress::complete ? settle() : progress;
}

Result<Progress> GridRun::advance() {
    const Result<Progress> progress = go_on();
    if (progress.ok() && *progress != Progress::complete) return progress;
    number_.end();
    sum_ = {};
    return progress;
}

}  // namespace gradcoll
