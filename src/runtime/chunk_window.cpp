// runtime/chunk_window.cpp - making the window, and its turns: messages first, then local work.
#include "runtime/chunk_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "transport/checked_lane.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t completions_per_poll = 64;
/// A turn does local work for this many bytes, some microseconds, before it looks at the network
/// again. A small step counts as least_elems_per_step elements.
constexpr std::int64_t local_bytes_per_turn = 32768;
constexpr std::int64_t least_elems_per_step = 256;

/// Returns how many messages of the lane a step may need: those by reference are acknowledged, each
/// in a stage of its own.
std::uint32_t messages_a_step(const ExecutorOptions& options) {
    return options.device ? 2 : 1;
}

std::uint32_t stages_of(const Plan& plan, const ExecutorOptions& options) {
    return options.checked ? TagLayout::checked_stages(plan.stage_count)
                           : plan.stage_count * messages_a_step(options);
}

bool reaches_device_memory(const Channel& channel, int peer, const DeviceSide& side) {
    const DeviceReach reach = channel.capabilities(peer).device_memory;
    return reach == DeviceReach::full ||
           (reach == DeviceReach::as_mpi && side.mpi_takes_device_memory());
}

/// Returns, by rank, whether the lane sends to that rank from device memory and receives from it
/// there.
std::vector<bool> direct_peers(const Channel& channel, const DeviceSide& side) {
    std::vector<bool> direct(static_cast<std::size_t>(channel.rank_count()));
    for (int peer = 0; peer < channel.rank_count(); ++peer)
        direct[static_cast<std::size_t>(peer)] =
            reaches_device_memory(channel, peer, side) && !side.shares_with(peer);
    return direct;
}

std::size_t bytes_of(const PlanSpec& spec, std::int64_t elems) {
    return static_cast<std::size_t>(elems) * spec.elem_bytes;
}

std::size_t chunk_bytes_of(const PlanSpec& spec) {
    return bytes_of(spec, spec.chunk_elems > 0 ? std::min(spec.chunk_elems, spec.count_elems)
                                               : spec.count_elems);
}

/// Returns the size from which a chunk has long messages.
std::size_t least_long_bytes(const Plan& plan, const Channel& channel) {
    return channel.short_bytes() * static_cast<std::size_t>(plan.rank_count);
}

/// Returns whether messages are short, as estimated from the size of a chunk, which is the same on
/// all ranks.
bool has_short_messages(const Plan& plan, const Channel& channel) {
    return chunk_bytes_of(plan.spec) < least_long_bytes(plan, channel);
}

/// Tells the channel if its way for long messages is not used: whoever asked for that way expects
/// it to carry a vector that is long enough as a whole.
void tell_that_chunks_are_short(const Plan& plan, Channel& channel) {
    const std::size_t vector_bytes = bytes_of(plan.spec, plan.spec.count_elems);
    const std::size_t least = least_long_bytes(plan, channel);
    if (vector_bytes >= least)
        channel.tell_unused(
            fmt::format("{} bytes go in chunks of {} bytes, whose messages are short; "
                        "GC_CHUNK_BYTES={} makes them long enough",
                        vector_bytes, chunk_bytes_of(plan.spec), least));
}

/// Returns, ascending, the peers for whose messages the way encodes. Both ends must find the same,
/// so the plan must be of a builder of which it is known that both ends hand over the same
/// messages. Residuals and devices need what is encoded, and checksums are those of it.
std::vector<int> peers_that_are_coded_for(const Plan& plan, const Channel& channel,
                                          const ExecutorOptions& options) {
    std::vector<int> peers;
    if (options.device || options.among_devices || options.checked || plan.spec.feedback ||
        plan.spec.builder != Builder::flexreduce || has_short_messages(plan, channel))
        return peers;
    for (int peer = 0; peer < channel.rank_count(); ++peer)
        if (channel.capabilities(peer).encodes_by_itself) peers.push_back(peer);
    return peers;
}

/// Returns whether this rank encodes something itself.
bool encodes_itself(const Program& program) {
    const std::vector<Step>& steps = program.schedule().steps;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (steps[i].kind == StepKind::encode && steps[i].codec != CodecId::exact &&
            !program.coded().is_idle(i))
            return true;
    return false;
}

/// Returns why agents that carry a plan's messages encode none of them.
const char* why_agents_do_not_encode(const Plan& plan, const ExecutorOptions& options) {
    if (plan.spec.feedback) return "carried; ranks encode, as they keep residuals";
    if (options.checked) return "carried; ranks encode, as messages are checked";
    if (options.device || options.among_devices)
        return "carried; ranks encode, as vectors may be on devices";
    if (plan.spec.builder != Builder::flexreduce)
        return "carried; ranks encode, as the plan has another builder";
    return "carried; ranks encode, as agents have other codecs, or there are too many ranks";
}

/// Returns RunStats::agents. `may_encode`: agents encode for some peer of the plan.
const char* part_of_agents(const Plan& plan, const Channel& channel, const ExecutorOptions& options,
                           const Program& program, bool may_encode) {
    if (channel.short_bytes() == 0) return nullptr;
    if (has_short_messages(plan, channel)) return "not used: messages are short";
    if (!encodes_itself(program))
        return program.coded().run_count() > 0 ? "carried and encoded" : "carried";
    if (!may_encode) return why_agents_do_not_encode(plan, options);
    return "carried; ranks encode what is passed on";
}

}  // namespace

std::size_t ChunkWindow::Parts::steps() const {
    return std::max(body.step_count(), tail.step_count());
}

std::size_t ChunkWindow::Parts::messages() const {
    return std::max(body.message_count(), tail.message_count());
}

std::size_t ChunkWindow::Parts::slots() const {
    return std::max(plan->body.slots.size(), plan->tail.slots.size());
}

std::size_t ChunkWindow::Parts::runs() const {
    return std::max(body.coded().run_count(), tail.coded().run_count());
}

std::size_t ChunkWindow::Parts::blocks() const {
    return std::max(body.blocks().block_count(), tail.blocks().block_count());
}

Result<ChunkWindow::Parts> ChunkWindow::parts_for(std::shared_ptr<const Plan> plan,
                                                  Channel& channel, const ExecutorOptions& options,
                                                  const TagLayout& tags) {
    const std::vector<int> coded_peers = peers_that_are_coded_for(*plan, channel, options);
    ProgramPeers peers{.plain = options.plain_peers,
                       .coded = {coded_peers, plan->encodings_go_one_hop}};
    // In short pieces a message has to be alone under its tag until the receiver has all of it: no
    // notice goes ahead.
    if (length_depends_on_data(plan->spec)) peers.silent = options.cut_peers;
    Result<Program> body = Program::make(plan->body, plan->spec.elem_bytes, peers);
    if (!body.ok()) return body.status();
    Result<Program> tail = Program::make(plan->tail, plan->spec.elem_bytes, peers);
    if (!tail.ok()) return tail.status();
    const auto places = static_cast<std::size_t>(std::clamp<std::int64_t>(
        plan->chunk_count, 1, std::min(options.chunks_in_flight, tags.chunk_count())));
    const auto table_of = [](const Program& program) {
        return program.blocks().block_count() + program.blocks().sent_count();
    };
    auto memory =
        WindowMemory::make(*plan,
                           {places, std::max(body->scratch_bytes(), tail->scratch_bytes()),
                            std::max(table_of(*body), table_of(*tail))},
                           options.data_on_device ? &options.device->device() : nullptr,
                           options.scratch ? options.scratch : std::make_shared<ScratchPool>());
    if (!memory.ok()) return memory.status();
    const bool in_short_pieces = !options.cut_peers.empty() || !coded_peers.empty();
    Parts parts{.plan = std::move(plan),
                .body = std::move(*body),
                .tail = std::move(*tail),
                .places = places,
                .in_short_pieces = in_short_pieces,
                .memory = std::move(memory).value()};
    parts.packers =
        std::make_unique<const PackersInUse>(GRADCOLL_VALUE(PackersInUse::of(*parts.plan)));
    parts.agents = part_of_agents(*parts.plan, channel, options, parts.body, !coded_peers.empty());
    const std::size_t messages = places * parts.messages() * messages_a_step(options);
    const bool is_short = has_short_messages(*parts.plan, channel);
    if (is_short) tell_that_chunks_are_short(*parts.plan, channel);
    const auto open = [&](std::size_t capacity) {
        return is_short ? channel.open_short_lane(capacity) : channel.open_lane(capacity);
    };
    const std::size_t checked = std::max(messages, OutcomeRounds::most_messages);
    parts.lane = options.checked ? make_checked_lane(open(2 * checked), checked, tags.seal_shift())
                                 : open(messages);
    if (!options.cut_peers.empty())
        parts.lane->cut_messages(options.cut_peers, length_depends_on_data(parts.plan->spec)
                                                        ? CutEnd::by_short_piece
                                                        : CutEnd::by_length);
    return parts;
}

Result<std::unique_ptr<ChunkWindow>> ChunkWindow::make(std::shared_ptr<const Plan> plan,
                                                       Channel& channel,
                                                       const ExecutorOptions& options) {
    const Result<TagLayout> tags = TagLayout::make(channel.tag_limit(), stages_of(*plan, options));
    if (!tags.ok()) return tags.status();
    const Result<CodecsInUse> codecs = CodecsInUse::of(*plan);
    if (!codecs.ok()) return codecs.status();
    Result<Parts> parts = parts_for(std::move(plan), channel, options, *tags);
    if (!parts.ok()) return parts.status();
    const Operation operation{.plan = *parts->plan,
                              .lane = *parts->lane,
                              .tags = *tags,
                              .codecs = *codecs,
                              .packers = *parts->packers,
                              .timed = options.timed || options.trace,
                              .trace = options.trace};
    std::unique_ptr<ChunkWindow> window(
        new ChunkWindow(std::move(parts).value(), operation, options));
    if (options.device) GRADCOLL_TRY(window->join_device(channel, options.data_on_device));
    if (options.checked) window->outcome_.emplace(channel.rank(), channel.rank_count());
    window->operation_.stats.agents = window->parts_.agents;
    window->make_runs();
    return window;
}

ChunkWindow::ChunkWindow(Parts parts, const Operation& operation, const ExecutorOptions& options)
    : parts_(std::move(parts)),
      operation_(operation),
      paced_(options.paced),
      side_(options.device),
      completions_(completions_per_poll) {}

Status ChunkWindow::join_device(const Channel& channel, bool data_on_device) {
    DeviceMessages::Room room;
    room.places = static_cast<std::uint32_t>(parts_.places);
    room.messages = parts_.messages();
    room.slots = parts_.slots();
    room.data_on_device = data_on_device;
    room.direct = direct_peers(channel, *side_);
    GRADCOLL_TRY(take(messages_, DeviceMessages::make(*side_, *parts_.lane, room)));
    if (data_on_device) batch_ = std::make_unique<DeviceBatch>(parts_.places * parts_.steps());
    return {};
}

void ChunkWindow::make_runs() {
    ChunkRun::Room room{parts_.steps(), parts_.slots(), parts_.blocks(),
                        operation_.trace != nullptr};
    room.runs = parts_.runs();
    runs_.reserve(parts_.places);
    for (std::uint32_t place = 0; place < parts_.places; ++place)
        runs_.emplace_back(place, room, messages_.get());
}

void ChunkWindow::give_memory_to_runs() {
    const auto places = static_cast<std::uint32_t>(parts_.memory.places());
    for (std::uint32_t place = 0; place < runs_.size(); ++place)
        runs_[place].use(parts_.memory.of(place % places));
}

Status ChunkWindow::begin() {
    if (messages_) messages_->begin_operation();
    oldest_chunk_ = next_chunk_ = 0;
    operation_.given_up = operation_.leaves_messages = false;
    if (outcome_) outcome_->renew(plan().chunk_count > 0);
    taken_.renew();
    give_memory_to_runs();
    begin_chunks();
    const Result<bool> started = start_messages();
    return started.ok() ? Status() : started.status();
}

Result<bool> ChunkWindow::turn(LocalWork local) {
    if (has_moved_all()) return complete() ? false : outcome_->advance(operation_);
    if (messages_) GRADCOLL_TRY(settle_chunks());
    retire_chunks();
    begin_chunks();
    const Result<bool> started = start_messages();
    if (!started.ok()) return started.status();
    const Result<bool> completed = take_completions();
    if (!completed.ok()) return completed.status();
    const Result<bool> worked = work(local);
    if (!worked.ok()) return worked.status();
    if (messages_) GRADCOLL_TRY(settle_chunks());
    retire_chunks();
    return *started || *completed || *worked;
}

void ChunkWindow::give_up() {
    parts_.lane->abandon();
    if (outcome_ && has_moved_all()) outcome_->give_up(operation_.given_up);
    operation_.given_up = true;
    for (std::int64_t chunk = oldest_chunk_; chunk < next_chunk_; ++chunk)
        run_of(chunk).finish_dropped();
}

std::string ChunkWindow::waits_at(const std::function<int(int rank)>& name) const {
    std::vector<const Step*> awaited;
    for (const ChunkRun& run : runs_) run.add_awaited(awaited);
    std::set<int> ranks;
    for (const Step* const step : awaited) ranks.insert(name(step->peer));
    if (!ranks.empty())
        return fmt::format("level {}, from {}", awaited.front()->level,
                           ranks_text(std::vector(ranks.begin(), ranks.end())));
    return outcome_ && has_moved_all() ? "for what others say of the outcome"
                                       : "to ranks that do not take them";
}

void ChunkWindow::drop() {
    taken_.drop();
    parts_.lane->abandon();
    if (messages_) messages_->abandon();
    for (ChunkRun& run : runs_) run.drop();
}

void ChunkWindow::begin_chunks() {
    while (next_chunk_ < plan().chunk_count && !run_of(next_chunk_).active() &&
           next_chunk_ - oldest_chunk_ < static_cast<std::int64_t>(parts_.memory.places())) {
        run_of(next_chunk_).begin(program_of(next_chunk_), next_chunk_, operation_);
        ++next_chunk_;
    }
}

Status ChunkWindow::settle_chunks() {
    for (std::int64_t chunk = oldest_chunk_; chunk < next_chunk_; ++chunk)
        GRADCOLL_TRY(run_of(chunk).settle(operation_));
    return {};
}

void ChunkWindow::retire_chunks() {
    while (oldest_chunk_ < next_chunk_ && !run_of(oldest_chunk_).active()) ++oldest_chunk_;
}

Result<bool> ChunkWindow::start_messages() {
    bool any = false;
    for (std::int64_t chunk = oldest_chunk_; chunk < next_chunk_; ++chunk) {
        const Result<bool> started = run_of(chunk).start_messages(operation_, pacer_of(chunk));
        if (!started.ok()) return started.status();
        any |= *started;
    }
    return any;
}

Result<bool> ChunkWindow::take_completions() {
    const Result<std::size_t> count =
        messages_ ? messages_->poll(operation_, completions_) : parts_.lane->poll(completions_);
    if (!count.ok()) return count.status();
    for (std::size_t i = 0; i < *count; ++i) {
        Completion& done = completions_[i];
        operation_.stats.bytes_sent += done.coded_bytes;
        ChunkRun& run = runs_[ChunkRun::place_of(done.cookie)];
        const std::uint32_t step = ChunkRun::step_of(done.cookie);
        if (done.is_damaged) run.note_damage(step, done.received_bytes, operation_);
        // What does not fit is of another call than this rank's. With a device nobody is told.
        if (done.status.code() == Code::corrupt && !messages_)
            run.finish_unfit(step, std::move(done.status), operation_);
        else if (!done.status.ok())
            return std::move(done.status);
        else
            GRADCOLL_TRY(run.finish_message(step, done.received_bytes, operation_));
    }
    return *count > 0;
}

Result<bool> ChunkWindow::work(LocalWork local) {
    if (batch_) return run_local_on_device();
    return local == LocalWork::here ? run_local() : false;
}

/// Runs local steps, those of older chunks first, until it is time to look after the network again.
/// Messages that become ready leave at once. Returns whether there was any step. Errors: those of
/// the lane.
Result<bool> ChunkWindow::run_local() {
    std::int64_t elems_left = local_bytes_per_turn / plan().spec.elem_bytes;
    bool any = false;
    LocalStep local;
    for (std::int64_t chunk = oldest_chunk_; chunk < next_chunk_ && elems_left > 0; ++chunk) {
        ChunkRun& run = run_of(chunk);
        while (elems_left > 0 && run.pick_local(operation_, local)) {
            any = true;
            run.finish_local(local, run_step(local), operation_);
            elems_left -= std::max(local.step->range.size(), least_elems_per_step);
            const Result<bool> started = run.start_messages(operation_, pacer_of(chunk));
            if (!started.ok()) return started.status();
        }
    }
    return any;
}

std::size_t ChunkWindow::take_local(std::span<LocalStep> out) {
    if (batch_) return 0;
    std::size_t count = 0;
    for (std::int64_t chunk = oldest_chunk_; chunk < next_chunk_; ++chunk)
        while (count < out.size() && run_of(chunk).pick_local(operation_, out[count])) {
            taken_.add();
            out[count++].taken = &taken_;
        }
    taken_count_ += count;
    return count;
}

Status ChunkWindow::finish_local(const LocalStep& local, LocalResult result) {
    ChunkRun& run = runs_[ChunkRun::place_of(local.cookie)];
    if (taken_count_ == 0 || (!taken_.dropped() && !run.is_due(local)))
        return {Code::internal,
                fmt::format("step {} of chunk {} was not taken, or came back before",
                            ChunkRun::step_of(local.cookie), local.chunk)};
    --taken_count_;
    if (!taken_.dropped()) run.finish_local(local, std::move(result), operation_);
    return {};
}

/// Gives everything that is ready to the device in as few launches as can be; the device does it in
/// its own time.
Result<bool> ChunkWindow::run_local_on_device() {
    bool any = false;
    for (;;) {
        bool more = false;
        for (std::int64_t chunk = oldest_chunk_; chunk < next_chunk_; ++chunk) {
            more |= run_of(chunk).has_local();
            run_of(chunk).batch_local(*batch_, operation_);
        }
        if (!more) return any;
        any = true;
        Status status = batch_->launch(*side_, operation_, messages_->invalid());
        if (!status.ok()) operation_.fail(std::move(status));
        for (std::int64_t chunk = oldest_chunk_; chunk < next_chunk_; ++chunk)
            run_of(chunk).finish_batched();
        const Result<bool> started = start_messages();
        if (!started.ok()) return started.status();
    }
}

}  // namespace gradcoll
