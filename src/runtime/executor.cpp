// runtime/executor.cpp - the window of chunks, and how an operation begins, waits and ends.
#include "runtime/executor.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/chunk_run.hpp"
#include "runtime/device/device_messages.hpp"
#include "runtime/idle_span.hpp"
#include "runtime/operation.hpp"
#include "runtime/operation_label.hpp"
#include "runtime/program.hpp"
#include "runtime/window_memory.hpp"

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
    if (options.data_on_device &&
        (!options.device || plan.spec.collective != Collective::allreduce))
        return Status(
            Code::invalid_argument,
            fmt::format("data_on_device: {} {} device; allowed is an allreduce with one",
                        name_of(plan.spec.collective), options.device ? "with a" : "without"));
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
         const std::array<Codec, codec_count>& codecs, const Options& given_options,
         WindowMemory given_memory)
        : plan(std::move(given_plan)),
          lane(std::move(given_lane)),
          body(std::move(given_body)),
          tail(std::move(given_tail)),
          options(given_options),
          operation{*plan, *lane, tags, codecs, options.timed || options.trace, options.trace, {},
                    {},    0,     {},   nullptr},
          memory(std::move(given_memory)),
          completions(completions_per_poll),
          reduces(needs_reducer(plan->body) || needs_reducer(plan->tail)) {}

    void make_runs(std::size_t count);
    Status join_device(const Channel& channel);
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
    Status retire_chunks();
    Result<bool> turn();
    Result<bool> start_messages();
    Result<bool> take_completions();
    Result<bool> run_local();
    Result<bool> run_local_on_device();
    std::unique_lock<std::mutex> lock_device() const {
        return options.device ? options.device->lock() : std::unique_lock<std::mutex>();
    }
    void drop_all();
    Status abandon(Status status);
    Status end();
    void trace_operation() const;

    std::shared_ptr<const Plan> plan;
    std::unique_ptr<Lane> lane;
    Program body;
    Program tail;
    Options options;
    Operation operation;
    WindowMemory memory;
    std::vector<ChunkRun> runs;              ///< the window: chunk c is at place c modulo its size
    std::unique_ptr<DeviceMessages> device;  ///< null where no rank's device takes part
    std::unique_ptr<DeviceBatch> batch;      ///< null for data of the host
    std::vector<Completion> completions;
    bool reduces;                ///< the plan needs a reducer
    std::uint32_t label = 0;     ///< of the operation in the trace
    std::uint64_t begin_ns = 0;  ///< of the operation; only with a trace
    bool running = false;
    std::int64_t oldest_chunk =
        0;  ///< chunks from here to next_chunk have begun; the oldest has not ended
    std::int64_t next_chunk = 0;
};

void Executor::Impl::make_runs(std::size_t count) {
    ChunkRun::Room room;
    room.steps = std::max(body.step_count(), tail.step_count());
    room.slots = std::max(plan->body.slots.size(), plan->tail.slots.size());
    room.traced = options.trace != nullptr;
    runs.reserve(count);
    for (std::uint32_t place = 0; place < count; ++place)
        runs.emplace_back(place, room, memory.of(place));
}

Status Executor::Impl::join_device(const Channel& channel) {
    if (!options.device) return {};
    DeviceMessages::Room room;
    room.places = static_cast<std::uint32_t>(runs.size());
    room.messages = std::max(body.message_count(), tail.message_count());
    room.slots = std::max(plan->body.slots.size(), plan->tail.slots.size());
    room.data_on_device = options.data_on_device;
    room.direct.resize(static_cast<std::size_t>(plan->rank_count));
    if (options.device->mpi_takes_device_memory())
        for (int peer = 0; peer < plan->rank_count; ++peer)
            room.direct[static_cast<std::size_t>(peer)] =
                channel.is_carried_by_mpi(peer) && !options.device->shares_with(peer);
    auto made = DeviceMessages::make(*options.device, *lane, room);
    if (!made.ok()) return made.status();
    device = std::move(made).value();
    operation.device = device.get();
    if (options.data_on_device)
        batch = std::make_unique<DeviceBatch>(runs.size() *
                                              std::max(body.step_count(), tail.step_count()));
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

Status Executor::Impl::retire_chunks() {
    if (device)
        for (std::int64_t chunk = oldest_chunk; chunk < next_chunk; ++chunk)
            GRADCOLL_TRY(run_of(chunk).settle(operation));
    while (oldest_chunk < next_chunk && !run_of(oldest_chunk).active()) ++oldest_chunk;
    return {};
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
    const Result<std::size_t> count =
        device ? device->poll(operation, completions) : lane->poll(completions);
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

/// Everything that is ready, in as few launches as can be: the device does it in its own time.
Result<bool> Executor::Impl::run_local_on_device() {
    bool any = false;
    for (;;) {
        bool more = false;
        for (std::int64_t chunk = oldest_chunk; chunk < next_chunk; ++chunk) {
            more |= run_of(chunk).has_local();
            run_of(chunk).batch_local(*batch, operation);
        }
        if (!more) return any;
        any = true;
        Status status = batch->launch(*options.device, operation, device->invalid());
        if (!status.ok()) operation.fail(std::move(status));
        for (std::int64_t chunk = oldest_chunk; chunk < next_chunk; ++chunk)
            run_of(chunk).finish_batched();
        const Result<bool> started = start_messages();
        if (!started.ok()) return started;
    }
}

/// True if anything was done. Errors: transport errors only.
Result<bool> Executor::Impl::turn() {
    GRADCOLL_TRY(retire_chunks());
    begin_chunks();
    const Result<bool> started = start_messages();
    if (!started.ok()) return started;
    const Result<bool> completed = take_completions();
    if (!completed.ok()) return completed;
    const Result<bool> worked = batch ? run_local_on_device() : run_local();
    if (!worked.ok()) return worked;
    return *started || *completed || *worked;
}

void Executor::Impl::drop_all() {
    lane->abandon();
    if (device) device->abandon();
    for (ChunkRun& run : runs) run.drop();
}

/// After a transport error there is no way to tell the other ranks.
Status Executor::Impl::abandon(Status status) {
    drop_all();
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
    const auto lock = impl_->lock_device();
    if (impl_->running) impl_->drop_all();
}

Result<std::unique_ptr<Executor>> Executor::make(std::shared_ptr<const Plan> plan, Channel& channel,
                                                 const Options& options) {
    GRADCOLL_TRY(check_options(*plan, channel, options));
    // Messages by reference are acknowledged with a stage of its own for each.
    const std::uint32_t stages = plan->stage_count * (options.device ? 2 : 1);
    const Result<TagLayout> tags = TagLayout::make(channel.tag_limit(), stages);
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
    const std::size_t messages =
        std::max(body->message_count(), tail->message_count()) * (options.device ? 2 : 1);
    auto memory = WindowMemory::make(*plan, window,
                                     options.data_on_device ? &options.device->device() : nullptr);
    if (!memory.ok()) return memory.status();
    auto impl = std::make_unique<Impl>(std::move(plan), channel.open_lane(window * messages),
                                       std::move(*body), std::move(*tail), *tags, codecs, options,
                                       std::move(memory).value());
    impl->make_runs(window);
    GRADCOLL_TRY(impl->join_device(channel));
    if (!options.cut_peers.empty()) impl->lane->cut_messages(options.cut_peers);
    if (options.trace)
        impl->label = options.trace->label(operation_label(*impl->plan), options.predicted_us);
    return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

const Plan& Executor::plan() const {
    return *impl_->plan;
}

const DeviceSide* Executor::data_device() const {
    return impl_->options.data_on_device ? impl_->options.device.get() : nullptr;
}

const RunStats& Executor::stats() const {
    return impl_->operation.stats;
}

Status Executor::start(const Binding& binding) {
    Impl& impl = *impl_;
    GRADCOLL_TRY(impl.check(binding));
    const auto lock = impl.lock_device();
    if (impl.batch) GRADCOLL_TRY(impl.options.device->follow_user());
    if (impl.device) impl.device->begin_operation();
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
    const auto lock = impl.lock_device();
    const Result<bool> turned = impl.turn();
    if (!turned.ok()) return impl.abandon(turned.status());
    const Status retired = impl.retire_chunks();
    if (!retired.ok()) return impl.abandon(retired);
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
