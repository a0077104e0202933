// runtime/executor.cpp - the window of chunks, and how an operation begins, waits and ends.
#include "runtime/executor.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/chunk_run.hpp"
#include "runtime/idle_span.hpp"
#include "runtime/operation.hpp"
#include "runtime/operation_label.hpp"
#include "runtime/program.hpp"

namespace gradcoll {
namespace {

/// Idle turns before the core is given away: about as long as a message between two cores takes.
constexpr int idle_turns_before_yield = 200;
constexpr std::size_t completions_per_poll = 64;
/// Local work between two looks at the network: some microseconds. A small step counts as this many
/// elements.
constexpr std::int64_t local_bytes_per_turn = 32768;
constexpr std::int64_t least_elems_per_step = 256;

Status check_options(const Plan& plan, const Channel& channel, const Executor::Options& options) {
    if (options.chunks_in_flight < 1 || options.chunks_in_flight > max_chunks_in_flight)
        return Status(Code::invalid_argument,
                      fmt::format("chunks_in_flight: {}; allowed are 1 to {}",
                                  options.chunks_in_flight, max_chunks_in_flight));
    if (plan.rank != channel.rank() || plan.rank_count != channel.rank_count())
        return Status(Code::invalid_argument,
                      fmt::format("plan of rank {} of {}: the channel is rank {} of {}", plan.rank,
                                  plan.rank_count, channel.rank(), channel.rank_count()));
    return {};
}

/// The codecs that a schedule's local steps use. Others stay empty.
Status add_codecs(const Schedule& schedule, ElementType type,
                  std::array<Codec, codec_count>& codecs) {
    for (const Step& step : schedule.steps) {
        const bool uses = step.kind == StepKind::encode || step.kind == StepKind::decode ||
                          step.kind == StepKind::decode_reduce;
        Codec& codec = codecs[static_cast<std::size_t>(step.codec)];
        if (!uses || codec.encode) continue;
        const Result<Codec> found = codec_for(step.codec, type);
        if (!found.ok()) return found.status();
        codec = *found;
    }
    return {};
}

bool needs_reducer(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [](const Step& step) { return step.kind == StepKind::reduce; });
}

}  // namespace

struct Executor::Impl {
    Impl(std::shared_ptr<const Plan> given_plan, std::unique_ptr<Lane> given_lane,
         Program given_body, Program given_tail, const TagLayout& tags,
         const std::array<Codec, codec_count>& codecs, const Options& given_options)
        : plan(std::move(given_plan)),
          lane(std::move(given_lane)),
          body(std::move(given_body)),
          tail(std::move(given_tail)),
          options(given_options),
          operation{*plan,         *lane, tags, codecs, options.timed || options.trace,
                    options.trace, {},    {},   0,      {}},
          completions(completions_per_poll),
          reduces(needs_reducer(plan->body) || needs_reducer(plan->tail)) {}

    Status make_runs(std::size_t count);
    Status check(const Binding& binding) const;
    const Program& program_of(std::int64_t chunk) const {
        return &plan->schedule_of(chunk) == &plan->tail ? tail : body;
    }
    ChunkRun& run_of(std::int64_t chunk) {
        return runs[static_cast<std::size_t>(chunk) % runs.size()];
    }
    /// The chunk whose sends go before those of `chunk`, if there is one under way.
    const ChunkRun* pacer_of(std::int64_t chunk) {
        return options.paced && chunk > oldest_chunk ? &run_of(chunk - 1) : nullptr;
    }
    void begin_chunks();
    void retire_chunks();
    Result<bool> turn();
    Result<bool> start_messages();
    Result<bool> take_completions();
    Result<bool> run_local();
    Status abandon(Status status);
    Status end();
    void trace_operation() const;

    std::shared_ptr<const Plan> plan;
    std::unique_ptr<Lane> lane;
    Program body;
    Program tail;
    Options options;
    Operation operation;
    std::vector<ChunkRun> runs;  ///< the window: chunk c is at place c modulo its size
    std::vector<Completion> completions;
    bool reduces;                ///< the plan needs a reducer
    std::uint32_t label = 0;     ///< of the operation in the trace
    std::uint64_t begin_ns = 0;  ///< of the operation; only with a trace
    bool running = false;
    std::int64_t oldest_chunk =
        0;  ///< chunks from here to next_chunk have begun; the oldest has not ended
    std::int64_t next_chunk = 0;
};

Status Executor::Impl::make_runs(std::size_t count) {
    ChunkRun::Room room;
    room.steps = std::max(body.step_count(), tail.step_count());
    room.slots = std::max(plan->body.slots.size(), plan->tail.slots.size());
    room.traced = options.trace != nullptr;
    const std::uint64_t scratch_bytes =
        std::max(plan->body.scratch_bytes, plan->tail.scratch_bytes);
    runs.reserve(count);
    for (std::uint32_t place = 0; place < count; ++place) {
        Arena scratch;
        GRADCOLL_TRY(scratch.reserve(scratch_bytes));
        runs.emplace_back(place, room, std::move(scratch));
    }
    return {};
}

Status Executor::Impl::check(const Binding& binding) const {
    if (running) return Status(Code::internal, "start: the operation before has not ended");
    if (plan->chunk_count > 0 && (!binding.input || !binding.output))
        return Status(Code::invalid_buffer,
                      fmt::format("{}: null; {} elements are to be handled",
                                  binding.input ? "output" : "input", plan->spec.count_elems));
    if (reduces && !binding.reducer)
        return Status(Code::invalid_op, "reducer: none; the plan has reduce steps");
    return {};
}

/// Chunk c waits until chunk c - window has ended: its place is free, and messages of one tag keep
/// their order.
void Executor::Impl::begin_chunks() {
    while (next_chunk < plan->chunk_count && !run_of(next_chunk).active() &&
           next_chunk - oldest_chunk < static_cast<std::int64_t>(runs.size())) {
        run_of(next_chunk).begin(program_of(next_chunk), next_chunk, operation);
        ++next_chunk;
    }
}

void Executor::Impl::retire_chunks() {
    while (oldest_chunk < next_chunk && !run_of(oldest_chunk).active()) ++oldest_chunk;
}

Result<bool> Executor::Impl::start_messages() {
    bool any = false;
    for (std::int64_t chunk = oldest_chunk; chunk < next_chunk; ++chunk) {
        const Result<bool> started = run_of(chunk).start_messages(operation, pacer_of(chunk));
        if (!started.ok()) return started.status();
        any |= *started;
    }
    return any;
}

Result<bool> Executor::Impl::take_completions() {
    const Result<std::size_t> count = lane->poll(completions);
    if (!count.ok()) return count.status();
    for (std::size_t i = 0; i < *count; ++i) {
        Completion& done = completions[i];
        if (!done.status.ok()) return std::move(done.status);
        runs[ChunkRun::place_of(done.cookie)].finish_message(ChunkRun::step_of(done.cookie),
                                                             done.received_bytes, operation);
    }
    return *count > 0;
}

/// Local steps, those of older chunks first, until it is time to look after the network again.
/// Messages that become ready leave at once. True if there was any. Errors: those of the lane.
Result<bool> Executor::Impl::run_local() {
    std::int64_t elems_left = local_bytes_per_turn / plan->spec.elem_bytes;
    bool any = false;
    for (std::int64_t chunk = oldest_chunk; chunk < next_chunk && elems_left > 0; ++chunk) {
        ChunkRun& run = run_of(chunk);
        while (elems_left > 0 && run.has_local()) {
            any = true;
            elems_left -= std::max(run.run_local(operation), least_elems_per_step);
            const Result<bool> started = run.start_messages(operation, pacer_of(chunk));
            if (!started.ok()) return started;
        }
    }
    return any;
}

/// True if anything was done. Errors: transport errors only.
Result<bool> Executor::Impl::turn() {
    retire_chunks();
    begin_chunks();
    const Result<bool> started = start_messages();
    if (!started.ok()) return started;
    const Result<bool> completed = take_completions();
    if (!completed.ok()) return completed;
    const Result<bool> worked = run_local();
    if (!worked.ok()) return worked;
    return *started || *completed || *worked;
}

/// After a transport error there is no way to tell the other ranks.
Status Executor::Impl::abandon(Status status) {
    lane->abandon();
    for (ChunkRun& run : runs) run.drop();
    operation.fail(std::move(status));
    return end();
}

void Executor::Impl::trace_operation() const {
    TraceSpan span;
    span.name = "operation";
    span.label = label;
    span.begin_ns = begin_ns;
    span.end_ns = now_ns();
    span.bytes = static_cast<std::uint64_t>(plan->spec.count_elems) * plan->spec.elem_bytes;
    span.operation = operation.binding.sequence;
    operation.trace->add_overlapping(span);
}

Status Executor::Impl::end() {
    running = false;
    if (operation.trace) trace_operation();
    return std::exchange(operation.error, Status());
}

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Executor::~Executor() {
    if (impl_->running) impl_->lane->abandon();
}

Result<std::unique_ptr<Executor>> Executor::make(std::shared_ptr<const Plan> plan, Channel& channel,
                                                 const Options& options) {
    GRADCOLL_TRY(check_options(*plan, channel, options));
    const Result<TagLayout> tags = TagLayout::make(channel.tag_limit(), plan->stage_count);
    if (!tags.ok()) return tags.status();
    std::array<Codec, codec_count> codecs;
    GRADCOLL_TRY(add_codecs(plan->body, plan->spec.type, codecs));
    GRADCOLL_TRY(add_codecs(plan->tail, plan->spec.type, codecs));
    Result<Program> body = Program::make(plan->body);
    if (!body.ok()) return body.status();
    Result<Program> tail = Program::make(plan->tail);
    if (!tail.ok()) return tail.status();
    const auto window = static_cast<std::size_t>(
        std::clamp<std::int64_t>(plan->chunk_count, 1, options.chunks_in_flight));
    const std::size_t messages = std::max(body->message_count(), tail->message_count());
    auto impl = std::make_unique<Impl>(std::move(plan), channel.open_lane(window * messages),
                                       std::move(*body), std::move(*tail), *tags, codecs, options);
    GRADCOLL_TRY(impl->make_runs(window));
    if (!options.cut_peers.empty()) impl->lane->cut_messages(options.cut_peers);
    if (options.trace)
        impl->label = options.trace->label(operation_label(*impl->plan), options.predicted_us);
    return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

const Plan& Executor::plan() const {
    return *impl_->plan;
}

const RunStats& Executor::stats() const {
    return impl_->operation.stats;
}

Status Executor::start(const Binding& binding) {
    Impl& impl = *impl_;
    GRADCOLL_TRY(impl.check(binding));
    impl.operation.binding = binding;
    impl.oldest_chunk = impl.next_chunk = 0;
    impl.running = true;
    if (impl.operation.trace) impl.begin_ns = now_ns();
    impl.begin_chunks();
    const Result<bool> started = impl.start_messages();
    return started.ok() ? Status() : impl.abandon(started.status());
}

Result<Progress> Executor::advance() {
    Impl& impl = *impl_;
    if (!impl.running) return Progress::complete;
    const Result<bool> turned = impl.turn();
    if (!turned.ok()) return impl.abandon(turned.status());
    impl.retire_chunks();
    if (impl.oldest_chunk < impl.plan->chunk_count)
        return *turned ? Progress::advanced : Progress::idle;
    GRADCOLL_TRY(impl.end());
    return Progress::complete;
}

Status Executor::wait() {
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
        if (*progress == Progress::advanced)
            idle_turns = idle_start;
        else if (++idle_turns > idle_turns_before_yield)
            sched_yield();
    }
    if (timed) impl_->operation.stats.wait_ns += now_ns() - impl_->operation.local_ns - begin;
    return status;
}

Status Executor::run(const Binding& binding) {
    GRADCOLL_TRY(start(binding));
    return wait();
}

}  // namespace gradcoll
