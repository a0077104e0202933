#include "ways/one_host/one_host.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <bit>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collectives/predict/forecast.hpp"
#include "comm/comm_devices.hpp"
#include "observe/observe.hpp"
#include "runtime/binding.hpp"
#include "topology/sources/job/written.hpp"
#include "transport/shm/shm_channel.hpp"

namespace gradcoll {
namespace {

/// Adds one call to the trace, with its prediction (0: there is none).
void add_span(Trace& trace, CallKind kind, double predicted_us, std::uint64_t begin_ns,
              const CallShape& shape) {
    const std::uint64_t bytes = shape.size_bytes();
    const std::string name = fmt::format(
        "{} {} {} shared memory", name_of(kind),
        bytes < 1024 ? fmt::format("{} B", bytes) : bytes_text(bytes), name_of(shape.type));
    trace.add_overlapping({.name = "operation",
                           .begin_ns = begin_ns,
                           .end_ns = now_ns(),
                           .bytes = bytes,
                           .label = trace.label(name, predicted_us)});
}

}  // namespace

bool allows_one_host(const SettingsText& text, const Settings& settings) {
    const bool may_share = settings.shm_bytes > 0 && settings.transports.allows(shm_transport_name);
    return may_share && is_discovered(text[OptionId::topology]) && !settings.chooses_plan();
}

OneHost::OneHost(const WayParts& parts)
    : comm_(parts.comm), settings_(parts.settings), statistics_(parts.statistics) {}

OneHost::~OneHost() = default;

void OneHost::settings_changed(const std::shared_ptr<const DiscoveredTree>&) {
    wait_for_turn();
    engine_.reset();
    may_open_ = comm_.is_one_host() && allows_one_host(settings_.text(), settings_.current());
    most_element_bytes_ =
        may_open_ ? one_host_element_bytes(comm_.rank_count(), settings_.current()) : 0;
}

/// Where only the progress thread ends the operation, only long vectors are worth the times that it
/// is scheduled, if the MPI library may add the others.
bool OneHost::may_start(const CallShape& shape) const {
    const Settings& settings = settings_.current();
    const bool keeps_one_order = settings.reproducible && !settings.anywhere;
    if (!is_open() || shape.by_mpi() || keeps_one_order) return false;
    const std::uint64_t least_bytes = settings.anywhere ? 0 : settings.tree_min_bytes;
    return comm_.all_ranks_see_completions() ||
           (comm_.all_ranks_have_threads() && shape.size_bytes() >= least_bytes);
}

/// The MPI library's own ops are for allreduces.
WayOffer OneHost::offers(const WayQuestion& question) {
    const CallShape& shape = question.shape;
    const bool fits = collective_of(question.kind) == Collective::allreduce || !shape.by_mpi();
    if (!fits || HostMemory::is_slower(question.kind, shape, comm_.rank_count())) return {};
    const bool is_there = question.waits() ? open() : may_start(shape);
    return {.exact = is_there && takes(shape)};
}

WayOffer OneHost::foreseen(const WayQuestion& question) const {
    return {.exact = may_open() && takes(question.shape)};
}

Status OneHost::run(const WayCall& call) {
    if (call.refusal == nullptr)
        return allreduce(binding_of(call.arguments, call.shape), call.shape, call.asked);
    refuse(CallKind::allreduce, call.shape, call.refusal->code(), call.asked);
    return *call.refusal;
}

bool OneHost::open() {
    if (engine_ != nullptr || !may_open_) return may_open_;
    auto engine = host_memory_for(comm_, one_host_choices(comm_.rank_count(), settings_.current()));
    if (engine) {
        engine_ = std::move(engine).value();
        return true;
    }
    may_open_ = false;
    log(comm_.rank() == 0 ? LogLevel::warn : LogLevel::debug,
        "ranks of communicator '{}' cannot share memory and use messages instead: {}", comm_.name(),
        engine.status().message());
    return false;
}

template <class Run>
Status OneHost::counted(const Told& call, Run&& run) {
    if (!turns_.all_are_over()) wait_for_turn();
    if (statistics_.is_observed()) return observed(call, run);
    GRADCOLL_TRY(run());
    statistics_.count_served(true, {.bytes = call.shape.size_bytes(),
                                    .bytes_sent = call.bytes_sent,
                                    .bytes_sent_exact = call.bytes_sent});
    return {};
}

template <class Run>
Status OneHost::observed(const Told& call, Run& run) {
    const std::uint64_t begin_ns = now_ns();
    GRADCOLL_TRY(run());
    engine_->note_end();
    CallRecord record;
    record.total_ns = now_ns() - begin_ns;
    record.kind = call.kind;
    record.shared_memory = true;
    record.bytes = call.shape.size_bytes();
    record.bytes_sent = record.bytes_sent_exact = call.bytes_sent;
    if (Trace* const trace = process_trace(); trace != nullptr)
        add_span(*trace, call.kind, predicted_us(call), begin_ns, call.shape);
    statistics_.count_served(record);
    return {};
}

/// Returns 0 if there is no prediction.
double OneHost::predicted_us(const Told& call) const {
    if (call.kind != CallKind::allreduce) return 0;
    return forecast_shared_memory(*settings_.current().tuning, comm_.rank_count(),
                                  static_cast<std::int64_t>(call.shape.size_bytes()), call.in_place)
        .total_us;
}

/// Returns whether ranks ask each other where their vectors are. Until devices are known to be used
/// they do so only before every power of two of the calls that would matter.
bool OneHost::asks_where(const CallShape& shape) {
    const Settings& settings = settings_.current();
    const std::uint64_t least = settings.device_min_bytes.value_or(CommDevices::least_auto_bytes);
    // The tree adds in another order.
    if (shape.by_mpi() || settings.reproducible || shape.size_bytes() < least) return false;
    return std::has_single_bit(++calls_to_ask_of_) || devices_are_used_;
}

Result<bool> OneHost::all_on_devices(const CallShape& shape, bool mine) {
    constexpr std::uint64_t on_device = 1, no_device_in_use = 2;
    if (!asks_where(shape)) return false;
    if (!turns_.all_are_over()) wait_for_turn();
    const bool in_use = mine || device_in_use() != nullptr;
    const std::uint64_t common = GRADCOLL_VALUE(
        engine_->common_bits((mine ? on_device : 0) | (in_use ? 0 : no_device_in_use), shape));
    devices_are_used_ = (common & no_device_in_use) == 0;
    return (common & on_device) != 0;
}

Status OneHost::allreduce(const Binding& binding, const CallShape& shape, bool asked) {
    if (!asked) GRADCOLL_TRY(all_on_devices(shape, false).status());
    return counted(
        {CallKind::allreduce, shape, shape.size_bytes(), binding.input == binding.output},
        [&] { return engine_->run(CallKind::allreduce, binding, shape); });
}

bool OneHost::answers_with_refusal(const CallShape& shape, Code reason) {
    if (!asks_where(shape)) return false;
    if (!turns_.all_are_over()) wait_for_turn();
    engine_->refuse_common_bits(reason);
    return true;
}

void OneHost::refuse(CallKind kind, const CallShape& shape, Code reason, bool asked) {
    if (kind == CallKind::allreduce && !asked && answers_with_refusal(shape, reason)) return;
    if (!turns_.all_are_over()) wait_for_turn();
    engine_->refuse(kind, shape, reason);
}

Result<Progress> OneHost::advance(const Operation& operation) {
    return turns_.advance(*engine_, operation.turn, [&] {
        if (operation.refusal == Code::ok)
            engine_->start(CallKind::allreduce, operation.binding, operation.shape);
        else
            engine_->start_refusal(CallKind::allreduce, operation.shape, operation.refusal);
    });
}

OneHost::Operation OneHost::begin_refusal(const CallShape& shape, Code reason) {
    return {{}, shape, turns_.give(), reason};
}

/// Counts the call already: a communicator that is freed before its operations are over has been of
/// use.
OneHost::Operation OneHost::begin_allreduce(const Binding& binding, const CallShape& shape,
                                            CallKind kind) {
    count_begun(shape, kind);
    return {binding, shape, turns_.give(), Code::ok};
}

void OneHost::count_begun(const CallShape& shape, CallKind kind) {
    const std::uint64_t bytes = shape.size_bytes();
    if (!statistics_.is_observed()) {
        statistics_.count_served(false,
                                 {.bytes = bytes, .bytes_sent = bytes, .bytes_sent_exact = bytes});
        return;
    }
    CallRecord record;
    record.kind = kind;
    record.shared_memory = true;
    record.bytes = record.bytes_sent = record.bytes_sent_exact = bytes;
    statistics_.count_served(record);
}

/// Lets others go on while it waits: other ranks may need messages of MPI from this one before they
/// come so far.
void OneHost::wait_for_turn() {
    while (!turns_.all_are_over())
        if (!engine_->let_others_go_on()) sched_yield();
}

/// Returns how many bytes this rank puts into the memory.
std::uint64_t OneHost::bytes_given(CallKind kind, const CallShape& shape, int root) const {
    const bool is_root = root == comm_.rank();
    const bool takes =
        has(kind, CallTrait::to_root) ? is_root : has(kind, CallTrait::from_root) && !is_root;
    if (takes) return 0;
    return gathers(kind) ? shape.size_bytes() / static_cast<std::uint64_t>(comm_.rank_count())
                         : shape.size_bytes();
}

Status OneHost::run(CallKind kind, const Binding& binding, const CallShape& shape, int root) {
    return counted({kind, shape, bytes_given(kind, shape, root)},
                   [&] { return engine_->run(kind, binding, shape, root); });
}

const WayInfo& one_host_way() {
    static constexpr WayInfo info{.name = "host",
                                  .says = "goes through the memory that all its ranks share",
                                  .over_tree = false,
                                  .is_timed = false,
                                  .make = [](const WayParts& parts) -> std::unique_ptr<Way> {
                                      return std::make_unique<OneHost>(parts);
                                  }};
    return info;
}

}  // namespace gradcoll
