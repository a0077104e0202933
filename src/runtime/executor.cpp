// runtime/executor.cpp - how an operation begins, is waited for, and ends.
#include "runtime/executor.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "compress/codec_form.hpp"
#include "runtime/chunk_window.hpp"
#include "runtime/operation_numbers.hpp"
#include "runtime/operation_trace.hpp"
#include "transport/peer_watch.hpp"

namespace gradcoll {
namespace {

/// An idle thread gives its core away after this many turns, about as long as a message between two
/// cores takes.
constexpr int idle_turns_before_yield = 200;
/// It sleeps, where it can, after some more turns with the core given away, about as long as it
/// takes to fall asleep and to wake up.
constexpr int idle_turns_before_rest = idle_turns_before_yield + 20;
/// A thread that has slept before in this operation's waits sleeps after this many turns: what it
/// waited for was long, and turns would take the CPU time that sleeping is to save.
constexpr int idle_turns_before_next_rest = 2;
/// A thread sleeps at most this long, since whatever else it keeps going stands still meanwhile.
constexpr std::chrono::microseconds longest_rest{1000};
/// An operation that has been given up waits this long for messages that others may not take.
constexpr std::chrono::milliseconds patience_once_given_up{100};

Status check_options(const Plan& plan, const Channel& channel, const Executor::Options& options) {
    if (options.chunks_in_flight < 1 || options.chunks_in_flight > max_chunks_in_flight)
        return Status(Code::invalid_argument,
                      fmt::format("chunks_in_flight: {}; allowed are 1 to {}",
                                  options.chunks_in_flight, max_chunks_in_flight));
    if (plan.rank != channel.rank() || plan.rank_count != channel.rank_count())
        return Status(Code::invalid_argument,
                      fmt::format("plan of rank {} of {}: the channel is rank {} of {}", plan.rank,
                                  plan.rank_count, channel.rank(), channel.rank_count()));
    if (options.data_on_device &&
        (!options.device || plan.spec.collective != Collective::allreduce))
        return Status(
            Code::invalid_argument,
            fmt::format("data_on_device: {} {} device; allowed is an allreduce with one",
                        name_of(plan.spec.collective), options.device ? "with a" : "without"));
    if (options.checked && options.device)
        return Status(Code::unsupported, "checked: what is on a device has no checksums");
    return {};
}

/// Returns a list such as "exact, 2:4, int8, int8/seed".
std::string codecs_run_by(const DevicePlugin& plugin, ElementType type) {
    std::string names;
    for (const NamedForm& form : all_codec_forms())
        if (plugin.runs_codec(form.codec, form.parameters, type))
            names += fmt::format("{}{}", names.empty() ? "" : ", ", form.name);
    return names;
}

/// Returns the codec of the plan that cannot be used with data on the device; exact if there is
/// none.
CodecId missing_on(const DevicePlugin& plugin, const PlanSpec& spec) {
    const auto is_missing = [&](CodecId codec) {
        return codec != CodecId::exact &&
               !plugin.runs_codec(plain(codec), parameters_of(codec), spec.type);
    };
    if (is_missing(spec.down_codec)) return spec.down_codec;
    for (const VertexChoice& each : spec.choices)
        if (is_missing(each.codec)) return each.codec;
    return CodecId::exact;
}

/// Returns why operations on a device's data cannot succeed; ok if they can.
Status refusal_of(const Plan& plan, const Executor::Options& options) {
    if (!options.data_on_device) return {};
    const DevicePlugin& plugin = options.device->plugin();
    const CodecId missing = missing_on(plugin, plan.spec);
    if (missing == CodecId::exact) return {};
    return {Code::unsupported,
            fmt::format(
                "codec {} of {}: {} device {} has no kernels for it; allowed with data there: {}; "
                "or vectors in host memory",
                name_of(missing), name_of(plan.spec.type), plugin.name, options.device->number(),
                codecs_run_by(plugin, plan.spec.type))};
}

Status leftovers() {
    return {Code::corrupt,
            "ranks called an earlier operation of this communicator with counts that differ, and "
            "messages of it are left, which could be taken for others: it can only be freed"};
}

/// Returns the length of the vector if it is cut; of vectors that are not, other ranks know the
/// length.
std::uint64_t length_of(const PlanSpec& spec) {
    const bool is_cut = spec.chunk_elems > 0 && spec.count_elems >= spec.chunk_elems;
    return is_cut ? static_cast<std::uint64_t>(spec.count_elems) : 0;
}

bool needs_reducer(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [](const Step& step) { return step.kind == StepKind::reduce; });
}

}  // namespace

struct Executor::Impl {
    Impl(const Options& given_options, Status given_refusal,
         std::unique_ptr<ChunkWindow> given_window)
        : options(given_options),
          refusal(std::move(given_refusal)),
          window(std::move(given_window)),
          operation(window->operation()),
          plan(operation.plan),
          reduces(needs_reducer(plan.body) || needs_reducer(plan.tail)) {}

    Status check(const Binding& binding) const;
    std::unique_lock<std::mutex> lock_device() const {
        return options.device ? options.device->lock() : std::unique_lock<std::mutex>();
    }
    void refuse();
    Status begin();
    Result<Progress> begin_in_turn();
    Result<Progress> advance(LocalWork local);
    Result<Progress> work(LocalWork local);
    Result<Progress> wait_as_failed();
    std::string awaited() const;
    Result<Progress> give_up_after_death();
    Result<Progress> end_if_all_are_back();
    void abandon(Status status);
    Status end();
    bool give_core_away(int idle_turns);

    const Options options;
    /// Every operation fails with this status; ok if none does. Only this rank may know where its
    /// data are, so operations begin none the less, as failed ones in which nothing is worked on,
    /// and the other ranks end, too.
    const Status refusal;
    std::vector<std::byte> stand_in;  ///< takes the place of data that are refused
    const std::unique_ptr<ChunkWindow> window;
    Operation& operation;
    const Plan& plan;
    const bool reduces;          ///< whether the plan needs a reducer
    std::uint32_t label = 0;     ///< label of the operation in the trace
    std::uint64_t begin_ns = 0;  ///< when the operation began; only with a trace
    std::uint64_t waits_since_ns =
        0;  ///< since when it has waited as a failed one; 0 if it does not

    bool rests = false;  ///< whether the lane can sleep, as it has done
    SlowWait slow;       ///< the wait of the running operation for messages

    enum class State : std::uint8_t {
        resting,
        awaiting_turn,  ///< started; nothing has been done
        running,
        abandoned  ///< nothing goes on but the end
    };
    State state = State::resting;
    OperationNumber number;  ///< number of the running operation; empty if its caller numbers it
};

Status Executor::Impl::check(const Binding& binding) const {
    if (state != State::resting)
        return Status(Code::internal, "start: the operation before has not ended");
    if (!binding.parts.empty() && !encodes_each_element_once(plan))
        return Status(Code::internal, "parts: the plan does not encode each element once");
    if (plan.chunk_count > 0 && binding.parts.empty() && (!binding.input || !binding.output))
        return Status(Code::invalid_buffer,
                      fmt::format("{}: null; {} elements are to be handled",
                                  binding.input ? "output" : "input", plan.spec.count_elems));
    if (reduces && !binding.reducer)
        return Status(Code::invalid_op, "reducer: none; the plan has reduce steps");
    return {};
}

/// Ends the operation after a transport error, when there is no way to tell the other ranks. The
/// MPI library may still read what it could not take back, so the memory stays as it is until the
/// next operation.
void Executor::Impl::abandon(Status status) {
    window->drop();
    operation.fail(std::move(status));
    state = State::abandoned;
}

Status Executor::Impl::end() {
    if (state == State::running) window->give_back();
    state = State::resting;
    if (operation.failed()) number.note_failure();
    if (operation.leaves_messages) number.note_leftovers();
    number.end();
    if (operation.trace) trace_operation(operation, label, begin_ns);
    return judged(options.peers.get(), std::exchange(operation.error, Status()));
}

/// Ends the operation unless steps are elsewhere, which use its memory.
Result<Progress> Executor::Impl::end_if_all_are_back() {
    if (window->taken() > 0) return Progress::idle;
    GRADCOLL_TRY(end());
    return Progress::complete;
}

/// Gives the operation memory in place of the data, since messages without a header go from and to
/// the vectors themselves.
void Executor::Impl::refuse() {
    const PlanSpec& spec = plan.spec;
    const auto bytes = static_cast<std::size_t>(spec.count_elems) * spec.elem_bytes;
    stand_in.resize(2 * bytes);
    operation.binding.input = stand_in.data();
    operation.binding.output = stand_in.data() + bytes;
    operation.binding.parts = {};
    operation.fail(refusal);
}

Status Executor::Impl::begin() {
    state = State::running;
    waits_since_ns = 0;
    slow = {};
    if (operation.binding.refusal != nullptr) operation.fail(*operation.binding.refusal);
    if (number.meets_leftovers()) operation.fail(leftovers());
    Status begun = window->borrow();
    operation.lacks_memory = !begun.ok() && window->can_do_without();
    if (operation.lacks_memory) operation.fail(std::exchange(begun, Status()));
    if (begun.ok()) begun = window->begin();
    if (begun.ok()) return {};
    abandon(std::move(begun));
    return end();
}

Result<Progress> Executor::Impl::begin_in_turn() {
    if (!number.has_turn()) return Progress::idle;
    GRADCOLL_TRY(begin());
    return Progress::advanced;
}

Result<Progress> Executor::Impl::work(LocalWork local) {
    const Result<bool> turned = window->turn(local);
    if (!turned.ok()) abandon(turned.status());
    if (!turned.ok() || window->complete()) return end_if_all_are_back();
    if (*turned) {
        slow.goes_on();
        return Progress::advanced;
    }
    if (slow.is_in_vain(options.peers.get(), [this] { return awaited(); }))
        return give_up_after_death();
    return operation.plans_may_differ() ? wait_as_failed() : Progress::idle;
}

/// Returns what the operation waits for, with ranks as the job calls them.
std::string Executor::Impl::awaited() const {
    const auto name = [this](int rank) {
        return options.in_job.empty() ? rank : options.in_job[static_cast<std::size_t>(rank)];
    };
    return fmt::format("for messages over the tree, {}: {}", window->waits_at(name),
                       operation_label(plan));
}

/// Gives up what comes no more, and sends the notices that are still owed, so that others end, too.
/// When these do not leave, or a device takes part, that is the end.
Result<Progress> Executor::Impl::give_up_after_death() {
    const PeerWatch& peers = *options.peers;
    const bool is_last = operation.given_up || options.device != nullptr;
    operation.fail(peers.fault(awaited()), {peers.dead_rank(), Code::peer_died});
    slow = {};
    if (is_last) {
        abandon(peers.fault());
        return end_if_all_are_back();
    }
    number.note_leftovers();
    window->give_up();
    return Progress::advanced;
}

/// Waits for messages of a failed operation, but not for ever: ranks whose plans have other numbers
/// of pieces wait for what nobody sends. Without a number of its own communicator the operation
/// waits on, as the next one would have the same tags.
Result<Progress> Executor::Impl::wait_as_failed() {
    if (options.device || !number.is_counted()) return Progress::idle;
    const std::uint64_t now = now_ns();
    if (waits_since_ns == 0) waits_since_ns = now;
    const std::chrono::nanoseconds patience =
        operation.given_up ? patience_once_given_up : options.patience;
    if (now - waits_since_ns < static_cast<std::uint64_t>(patience.count())) return Progress::idle;
    waits_since_ns = 0;
    number.note_leftovers();
    window->give_up();
    return Progress::advanced;
}

Result<Progress> Executor::Impl::advance(LocalWork local) {
    if (state == State::resting) return Progress::complete;
    const auto lock = lock_device();
    if (state == State::running) return work(local);
    return state == State::abandoned ? end_if_all_are_back() : begin_in_turn();
}

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Executor::~Executor() {
    if (impl_->state == Impl::State::resting) return;
    const auto lock = impl_->lock_device();
    if (impl_->state == Impl::State::running) impl_->window->drop();
    impl_->window->wait_for_taken();
}

Result<std::unique_ptr<Executor>> Executor::make(std::shared_ptr<const Plan> plan, Channel& channel,
                                                 const Options& options) {
    GRADCOLL_TRY(check_options(*plan, channel, options));
    Status refusal = refusal_of(*plan, options);
    Options used = options;
    used.data_on_device = options.data_on_device && refusal.ok();
    auto window = ChunkWindow::make(std::move(plan), channel, used);
    if (!window.ok()) return window.status();
    auto impl = std::make_unique<Impl>(used, std::move(refusal), std::move(window).value());
    if (options.trace)
        impl->label = options.trace->label(operation_label(impl->plan), options.predicted_us);
    return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

const Plan& Executor::plan() const {
    return impl_->plan;
}

const DeviceSide* Executor::data_device() const {
    return impl_->options.data_on_device ? impl_->options.device.get() : nullptr;
}

const RunStats& Executor::stats() const {
    return impl_->operation.stats;
}

std::uint32_t Executor::sequence() const {
    return impl_->operation.binding.sequence;
}

Status Executor::start(const Binding& binding) {
    Impl& impl = *impl_;
    if (impl.options.peers != nullptr && impl.options.peers->has_fault())
        return impl.options.peers->fault();
    OperationNumber number;
    SignatureChange change = binding.change;
    if (binding.numbers != nullptr) {
        number = binding.numbers->take();
        change = binding.numbers->change_to(binding.signature, length_of(impl.plan.spec));
    }
    GRADCOLL_TRY(impl.check(binding));
    const auto lock = impl.lock_device();
    if (impl.options.data_on_device) GRADCOLL_TRY(impl.options.device->follow_user());
    impl.operation.binding = binding;
    if (const std::uint64_t length = length_of(impl.plan.spec); length != 0)
        impl.operation.binding.signature ^= scrambled(length);
    if (impl.options.among_devices) change = SignatureChange::none;
    impl.operation.change = change;
    if (change != SignatureChange::none)
        impl.operation.signature = SignatureNotice(impl.operation.binding.signature);
    const std::int64_t parts = std::max<std::int64_t>(impl.plan.loss_parts.together, 1);
    impl.operation.codecs.tell_tolerance(binding.tolerance / static_cast<double>(parts));
    if (binding.numbers != nullptr) impl.operation.binding.sequence = number.value();
    impl.number = std::move(number);
    if (!impl.refusal.ok()) impl.refuse();
    if (impl.operation.trace) impl.begin_ns = now_ns();
    if (impl.number.has_turn()) return impl.begin();
    impl.state = Impl::State::awaiting_turn;
    return {};
}

Result<Progress> Executor::advance() {
    return impl_->advance(LocalWork::here);
}

Result<Progress> Executor::advance_messages() {
    return impl_->advance(LocalWork::elsewhere);
}

std::size_t Executor::take_local(std::span<LocalStep> out) {
    if (impl_->state != Impl::State::running) return 0;
    const std::size_t count = impl_->window->take_local(out);
    for (LocalStep& local : out.first(count)) local.executor = this;
    return count;
}

Status Executor::finish_local(const LocalStep& local, LocalResult result) {
    if (local.executor != this)
        return {Code::internal, "finish_local: the step is another executor's"};
    return impl_->window->finish_local(local, std::move(result));
}

/// Returns whether it has slept.
bool Executor::Impl::give_core_away(int idle_turns) {
    const bool slept = idle_turns > idle_turns_before_rest && operation.lane.rest(longest_rest);
    rests |= slept;
    if (!slept) sched_yield();
    return slept;
}

bool Executor::rest() {
    return impl_->give_core_away(idle_turns_before_rest + 1);
}

Status Executor::wait(bool (*meanwhile)()) {
    if (impl_->window->taken() > 0)
        return {Code::internal, fmt::format("wait: {} local steps are elsewhere; allowed is 0",
                                            impl_->window->taken())};
    const bool timed = impl_->operation.timed;
    const std::uint64_t begin = timed ? now_ns() - impl_->operation.local_ns : 0;
    IdleSpan idle(impl_->operation);
    Status status;
    int idle_turns = impl_->options.yield_always ? idle_turns_before_yield : 0;
    const int idle_start = idle_turns;
    for (;;) {
        idle.before_turn();
        const Result<Progress> progress = advance();
        idle.after_turn(progress.ok() && *progress == Progress::idle);
        if (!progress.ok()) status = progress.status();
        if (!progress.ok() || *progress == Progress::complete) break;
        if (*progress == Progress::advanced || (meanwhile != nullptr && meanwhile()))
            idle_turns =
                impl_->rests ? idle_turns_before_rest - idle_turns_before_next_rest : idle_start;
        else if (++idle_turns > idle_turns_before_yield)
            impl_->give_core_away(idle_turns);
    }
    if (timed) impl_->operation.stats.wait_ns += now_ns() - impl_->operation.local_ns - begin;
    return status;
}

Status Executor::run(const Binding& binding, bool (*meanwhile)()) {
    GRADCOLL_TRY(start(binding));
    return wait(meanwhile);
}

}  // namespace gradcoll
