#include "engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "runtime/executor.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t steps_a_turn = 16;
/// Steps up to this size are run by the thread of the turns itself: to hand them over takes as
/// long.
constexpr std::size_t most_bytes_here = 16384;

}  // namespace

Engine::Engine(int rank, std::unique_ptr<Negotiation> negotiation, const EngineOptions& options)
    : rank_(rank),
      options_(options),
      watch_(options.trace),
      negotiation_(std::move(negotiation)),
      compute_(options.compute_threads, [this] { watch_.name_thread("compute"); }) {
    if (options_.own_thread) thread_ = std::thread([this] { run(); });
}

Result<std::unique_ptr<Engine>> Engine::make(Channel& channel, const EngineOptions& options) {
    Circle circle = options.circle.members.empty()
                        ? flat_circle(channel.rank(), channel.rank_count())
                        : options.circle;
    auto negotiation =
        Negotiation::make(channel, std::move(circle), options.most_pack_bytes, options.checked);
    if (!negotiation) return negotiation.status();
    return std::unique_ptr<Engine>(
        new Engine(channel.rank(), std::move(negotiation).value(), options));
}

Engine::~Engine() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    submitted_now_.notify_all();
    if (thread_.joinable()) thread_.join();
}

Gradient& Engine::gradient(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    auto& at = gradients_[std::string(name)];
    if (at == nullptr) at = std::make_unique<Gradient>(std::string(name));
    return *at;
}

Status Engine::submit(Gradient& gradient, const Submission& submission) {
    bool is_first = false;
    {
        const std::uint64_t since_ns = now_ns();
        const std::scoped_lock lock(mutex_);
        GRADCOLL_TRY(failure_);
        gradient.shape_ = submission.shape;
        gradient.shape_text_ = submission.shape_text;
        gradient.bytes_ = submission.bytes;
        gradient.expected_ = submission.expected;
        gradient.priority_ = submission.priority;
        gradient.pack_ = submission.pack;
        gradient.alone_ = submission.alone;
        gradient.outcome_ = {};
        gradient.state_.store(Gradient::State::submitted, std::memory_order_release);
        under_way_.fetch_add(1, std::memory_order_acq_rel);
        last_submit_ns_ = watch_.submitted(gradient, since_ns);
        is_first = submitted_.empty();
        if (is_first) first_submit_ns_ = last_submit_ns_;
        submitted_.push_back(&gradient);
    }
    if (is_first) submitted_now_.notify_all();
    look_after();
    return {};
}

Status Engine::take_outcome(Gradient& gradient) {
    Status outcome = std::move(gradient.outcome_);
    gradient.outcome_ = {};
    gradient.state_.store(Gradient::State::idle, std::memory_order_release);
    return outcome;
}

// ---- the transfer loop

void Engine::run() {
    watch_.name_thread("transfer");
    Idle idle;
    for (;;) {
        {
            const std::scoped_lock lock(mutex_);
            if (stopping_) return;
        }
        if (turn())
            idle = {};
        else
            rest(idle);
    }
}

/// Makes a turn and returns true if anything went on. Whoever cannot make a turn because another
/// does waits for it. Sums that have begun go on when ranks can agree on no more, and others are
/// told so.
bool Engine::turn() {
    const std::scoped_lock lock(turn_mutex_);
    const std::uint64_t now = now_ns();
    const bool had_failed = !failure().ok();
    if (had_failed && is_over(now)) return false;
    const auto agreed = had_failed ? negotiation_->advance(now) : agree(now);
    if (!agreed.ok() && !had_failed) fail(agreed.status());
    bool went_on = take_back();
    went_on = advance_running() || went_on;
    went_on = went_on || help();
    if (went_on || (agreed.ok() && *agreed))
        slow_.goes_on();
    else if (!had_failed && waits_in_vain())
        fail(options_.peers->fault("for gradients of other ranks"));
    if (went_on || !had_failed)
        went_on_ns_ = now;
    else
        drop_stuck(now);
    return went_on || (agreed.ok() && *agreed);
}

/// Drops sums that have not gone on for long after a failure, once no steps are elsewhere: these
/// come back to executors that must still be there.
void Engine::drop_stuck(std::uint64_t now_ns) {
    if (running_.empty() || steps_out_ > 0) return;
    if (now_ns - went_on_ns_ < failure_patience_ns()) return;
    const Status why = failure();
    for (const auto& sum : running_) {
        if (sum->mine) continue;
        sum->work->abandon();
        sum->mine = why;
    }
}

/// Returns whether turns do nothing any more after a failure: all sums have ended, and others have
/// been told for as long as they wait.
bool Engine::is_over(std::uint64_t now_ns) const {
    return running_.empty() && steps_out_ == 0 && has_voted() &&
           now_ns - went_on_ns_ > failure_patience_ns();
}

/// Returns whether nobody waits for a vote on a sum that this rank has no part in.
bool Engine::has_voted() const {
    return options_.votes == nullptr || options_.votes->has_given_all_up();
}

/// Returns ok while ranks can agree.
Status Engine::failure() const {
    const std::scoped_lock lock(mutex_);
    return failure_;
}

Result<bool> Engine::agree(std::uint64_t now_ns) try {
    GRADCOLL_TRY(announce(now_ns));
    negotiation_->release(room_bytes());
    const bool went_on = GRADCOLL_VALUE(negotiation_->advance(now_ns));
    GRADCOLL_TRY(hear_verdicts());
    tell_stalls(now_ns);
    return went_on;
} catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "no memory for what ranks tell each other");
}

/// Returns whether others may be told of what was handed in. The caller holds mutex_.
bool Engine::has_settled(std::uint64_t now_ns) const {
    const std::uint64_t settling_ns = options_.own_thread ? options_.settling_ns : 0;
    const bool others_go_on = under_way() > submitted_.size();
    return is_waited_for_ || others_go_on || now_ns >= last_submit_ns_ + settling_ns ||
           now_ns >= first_submit_ns_ + 10 * settling_ns;
}

Status Engine::announce(std::uint64_t now_ns) {
    announced_.clear();
    {
        const std::scoped_lock lock(mutex_);
        if (submitted_.empty() || !has_settled(now_ns)) return {};
        std::swap(announced_, submitted_);
        is_waited_for_ = false;
    }
    for (Gradient* const& gradient : announced_) {
        if (begins_alone(*gradient)) {
            begin({&gradient, 1}, Order::of_this_rank);
        } else {
            GRADCOLL_TRY(tell(*gradient, now_ns));
        }
    }
    return {};
}

bool Engine::begins_alone(const Gradient& gradient) {
    return gradient.alone_ && gradient.agreed_shape_ == gradient.shape_;
}

Status Engine::tell(Gradient& gradient, std::uint64_t now_ns) {
    Ready ready;
    ready.rank = rank_;
    ready.number = gradient.number_;
    ready.priority = gradient.priority_;
    ready.bytes = gradient.bytes_;
    ready.shape = gradient.shape_;
    ready.pack = options_.packer != nullptr ? gradient.pack_ : 0;
    const bool is_new = gradient.number_ == unnumbered;
    if (is_new) ready.name = gradient.name_;
    if (is_new || gradient.told_->shape != gradient.shape_) ready.shape_text = gradient.shape_text_;
    ready.as_before = !is_new && gradient.told_ == ready.said();
    gradient.told_ = ready.said();
    gradient.is_told_ = true;
    return negotiation_->say(ready, now_ns);
}

/// Returns how many bytes of sums may begin. Two may be under way whatever their size: while one
/// ends, the other keeps links busy. Sums that ranks begin by themselves may wait for a rank that
/// waits for the next sum of all, so they take no room.
std::uint64_t Engine::room_bytes() const {
    if (ordered_ < 2) return UINT64_MAX;
    std::uint64_t largest = 0;
    for (const auto& sum : running_)
        if (!sum->alone) largest = std::max(largest, sum->bytes);
    return options_.most_bytes - std::min(options_.most_bytes, ordered_bytes_ - largest);
}

/// Returns the gradient of a verdict, which this rank has said to be ready, or the coordinator is
/// wrong.
Result<Gradient*> Engine::found(const Verdict& verdict) {
    if (!verdict.name.empty() && verdict.number == by_number_.size()) {
        const std::scoped_lock lock(mutex_);
        const auto at = gradients_.find(verdict.name);
        by_number_.push_back(at != gradients_.end() ? at->second.get() : nullptr);
    }
    Gradient* const gradient =
        verdict.number < by_number_.size() ? by_number_[verdict.number] : nullptr;
    if (gradient == nullptr || !gradient->is_told_)
        return Status(
            Code::corrupt,
            fmt::format("rank 0 begins gradient {} \"{}\", which this rank has not handed in",
                        verdict.number, printable(verdict.name)));
    gradient->number_ = verdict.number;
    gradient->is_told_ = false;
    if (verdict.links_carry > 0) take_links_carry(*gradient, verdict.links_carry);
    return gradient;
}

Status Engine::hear_verdicts() {
    Verdict verdict;
    while (GRADCOLL_VALUE(negotiation_->hear(verdict))) {
        beginning_.push_back(GRADCOLL_VALUE(found(verdict)));
        if (verdict.more) continue;
        GRADCOLL_TRY(check_pack());
        if (verdict.error.empty()) {
            begin(beginning_, Order::of_all);
        } else {
            negotiation_->ended(verdict.number);
            complete(beginning_, {Code::invalid_argument, verdict.error});
        }
        beginning_.clear();
    }
    return {};
}

/// Returns ok if those of beginning_ go together, or the coordinator is wrong.
Status Engine::check_pack() const {
    const Gradient& first = *beginning_.front();
    const bool good = beginning_.size() == 1 ||
                      (options_.packer != nullptr && first.pack_ != 0 &&
                       std::all_of(beginning_.begin(), beginning_.end(),
                                   [&](const Gradient* one) { return one->pack_ == first.pack_; }));
    if (good) return {};
    return {Code::corrupt, fmt::format("rank 0 packs gradient \"{}\" with others, which this rank "
                                       "does not",
                                       printable(first.name_))};
}

Result<Work*> Engine::work_of(std::span<Gradient* const> gradients) {
    Work* const alone = gradients.front()->work.get();
    if (gradients.size() == 1 && !alone->is_part_of_packs()) return alone;
    return options_.packer->pack(gradients);
}

std::unique_ptr<Engine::Sum> Engine::take_sum() {
    if (idle_.empty()) return std::make_unique<Sum>();
    std::unique_ptr<Sum> sum = std::move(idle_.back());
    idle_.pop_back();
    return sum;
}

/// Begins the gradients together, as one sum.
void Engine::begin(std::span<Gradient* const> gradients, Order order) {
    const bool is_voted_on = options_.votes != nullptr && order == Order::of_all;
    const std::uint64_t number = is_voted_on ? options_.votes->take_number() : 0;
    const auto work = work_of(gradients);
    const Status started = work ? (*work)->start() : work.status();
    if (!started.ok()) {
        if (order == Order::of_all) negotiation_->ended(gradients.front()->number_);
        if (is_voted_on) options_.votes->give_up(number);
        return complete(gradients, started);
    }
    std::unique_ptr<Sum> sum = take_sum();
    sum->number = number;
    sum->mine.reset();
    sum->work = *work;
    sum->gradients.assign(gradients.begin(), gradients.end());
    sum->priority = gradients.front()->priority_;
    sum->bytes = 0;
    sum->begin_ns = sum->told_ns = now_ns();
    sum->alone = order == Order::of_this_rank;
    for (Gradient* gradient : gradients) {
        gradient->is_running_ = true;
        gradient->agreed_shape_ = gradient->shape_;
        sum->bytes += gradient->bytes_;
    }
    if (!sum->alone) {
        ++ordered_;
        ordered_bytes_ += sum->bytes;
    }
    const auto at = std::find_if(running_.begin(), running_.end(), [&](const auto& other) {
        return other->priority < sum->priority;
    });
    if (tells_of_links(*sum)) watch_begin(*sum);
    running_.insert(at, std::move(sum));
    watch_.begun(gradients, running_.size());
}

bool Engine::advance_running() {
    bool went_on = false;
    for (std::size_t i = 0; i < running_.size();) {
        const Sum* const sum = running_[i].get();
        went_on = advance(i) || went_on;
        if (i < running_.size() && running_[i].get() == sum) ++i;
    }
    return went_on;
}

bool Engine::advance(std::size_t index) {
    Sum& sum = *running_[index];
    if (!sum.mine) {
        const auto progress = sum.work->advance();
        if (progress.ok() && *progress != Progress::complete)
            return hand_out(sum) || *progress == Progress::advanced;
        sum.mine = progress.ok() ? deliver(sum.gradients) : progress.status();
    }
    if (!is_answered(sum)) return false;
    idle_.push_back(std::move(running_[index]));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
    const Sum& ended = *idle_.back();
    if (tells_of_links(ended)) links_.ended(ended.gradients.front()->expected_, now_ns());
    if (!ended.alone) {
        --ordered_;
        ordered_bytes_ -= ended.bytes;
        negotiation_->ended(ended.gradients.front()->number_);
    }
    for (Gradient* gradient : ended.gradients) {
        gradient->is_running_ = false;
        gradient->took_ns_ = ended.gradients.size() == 1 ? now_ns() - ended.begin_ns : 0;
    }
    complete(ended.gradients, *ended.mine);
    return true;
}

/// Makes of how the sum ended here what holds for all ranks. Returns false while that is not known.
bool Engine::is_answered(Sum& sum) {
    if (options_.votes == nullptr || sum.alone) return true;
    auto answer = options_.votes->answer(sum.number, *sum.mine);
    if (!answer) return false;
    sum.mine = *std::move(answer);
    return true;
}

/// Delivers all and returns the first error, which counts for all of them: they were one sum.
Status Engine::deliver(std::span<Gradient* const> gradients) {
    Status first;
    for (Gradient* gradient : gradients) {
        Status delivered = gradient->work->deliver();
        if (first.ok()) first = std::move(delivered);
    }
    return first;
}

/// Hands local steps out, but runs short ones here. Returns true if there were any.
bool Engine::hand_out(Sum& sum) {
    std::array<LocalStep, steps_a_turn> taken;
    const std::size_t most = compute_.has_threads() ? taken.size() : 1;
    const auto steps = std::span(taken).first(sum.work->take_local(std::span(taken).first(most)));
    const bool nobody_comes = compute_.has_waiting();
    const auto given = std::partition(steps.begin(), steps.end(), [&](const LocalStep& step) {
        return !compute_.has_threads() || nobody_comes || step.bytes() <= most_bytes_here;
    });
    steps_out_ += static_cast<std::size_t>(steps.end() - given);
    compute_.give({given, steps.end()}, sum.priority);
    for (const LocalStep& step : std::span(steps.begin(), given)) run_here(step);
    return given != steps.begin();
}

/// Runs a step that no thread has come to meanwhile, when there is nothing else to do but wait for
/// messages. Where cores are busy it takes a while until a thread does.
bool Engine::help() {
    LocalStep step;
    if (!compute_.take(step)) return false;
    --steps_out_;
    run_here(step);
    return true;
}

/// Brings steps back to their executors.
bool Engine::take_back() {
    compute_.take_back(returned_);
    for (ComputeQueue::Returned& back : returned_) finish(back.step, std::move(back.result));
    steps_out_ -= returned_.size();
    return !returned_.empty();
}

void Engine::run_here(const LocalStep& step) {
    const std::uint64_t begin_ns = now_ns();
    LocalResult result = run_step(step);
    worked_here_ns_ += now_ns() - begin_ns;
    finish(step, std::move(result));
}

void Engine::finish(const LocalStep& step, LocalResult result) {
    const Status status = step.executor->finish_local(step, std::move(result));
    if (!status.ok()) log(LogLevel::error, "{}", status.message());
}

void Engine::complete(std::span<Gradient* const> gradients, const Status& outcome) {
    watch_.ended(gradients, outcome.ok());
    {
        const std::scoped_lock lock(mutex_);
        for (Gradient* gradient : gradients) {
            gradient->outcome_ = outcome;
            gradient->state_.store(Gradient::State::complete, std::memory_order_release);
        }
        under_way_.fetch_sub(gradients.size(), std::memory_order_acq_rel);
    }
    completed_now_.notify_all();
}

/// Ends what has not begun with the error, as ranks cannot agree any more, and takes nothing new.
void Engine::fail(const Status& found) {
    const Status status = judged(options_.peers.get(), found);
    negotiation_->give_up(status);
    if (options_.votes != nullptr) options_.votes->close();
    std::vector<Gradient*> ended;
    {
        const std::scoped_lock lock(mutex_);
        failure_ = status;
        submitted_.clear();
        for (const auto& [name, gradient] : gradients_)
            if (gradient->is_busy() && !gradient->is_complete() && !gradient->is_running_)
                ended.push_back(gradient.get());
    }
    complete(ended, status);
}

}  // namespace gradcoll
