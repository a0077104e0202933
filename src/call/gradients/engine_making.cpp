#include "call/gradients/engine_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attach/attachments.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/mpi/exchange.hpp"
#include "base/text.hpp"
#include "call/gradients/gradient_sums.hpp"
#include "engine/gradient_plan.hpp"
#include "observe/observe.hpp"
#include "settings/info_keys.hpp"

namespace gradcoll {
namespace {

Status check_fits_engines(const Settings& settings) {
    if (settings.tolerance)
        return {Code::invalid_argument,
                "gc_tolerance is not kept by engines, which cannot look at all inputs first; "
                "allowed: per-hop"};
    if (!settings.schedule.empty())
        return {Code::invalid_argument,
                "a schedule in gc_codec is not for engines, which have no steps; allowed: a codec, "
                "or a "
                "list of them by level or kind of link"};
    return {};
}

/// VotesOfEngine are the verdicts of the engine's communicator, which has no other sums.
class VotesOfEngine final : public SumVotes {
  public:
    explicit VotesOfEngine(std::shared_ptr<Verdicts> verdicts) : verdicts_(std::move(verdicts)) {}

    std::uint64_t take_number() override { return verdicts_->take_number(); }
    std::optional<Status> answer(std::uint64_t number, const Status& mine) override {
        return verdicts_->verdict(number, mine);
    }
    void give_up(std::uint64_t number) override { verdicts_->give_up(number); }
    void close() override { verdicts_->close(); }
    bool has_given_all_up() override { return verdicts_->has_given_all_up(); }

  private:
    std::shared_ptr<Verdicts> verdicts_;
};

/// Returns null where survivors do not agree on sums, which is said in a line if the settings want
/// it.
std::shared_ptr<SumVotes> votes_of(const GC_Engine_s& engine) {
    const auto& verdicts = engine.context->verdicts();
    if (verdicts == nullptr) return {};
    if (engine.settings.engine.coordinator != EngineCoordinator::off)
        return std::make_shared<VotesOfEngine>(verdicts);
    log(engine.context->identity().rank() == 0 ? LogLevel::warn : LogLevel::debug,
        "gc_fault=survive: survivors do not agree on sums of an engine with "
        "gc_engine=coordinator=off, which have no common order");
    return {};
}

long cores_a_rank(const CommIdentity& identity) {
    return this_host().processors / identity.most_ranks_on_host();
}

/// Returns how many threads compute: as many as this rank has cores, less one for the program's own
/// thread.
int compute_threads(const GC_Engine_s& engine) {
    constexpr long most = 4;
    const CommIdentity& identity = engine.context->identity();
    if (engine.settings.engine.threads) return *engine.settings.engine.threads;
    if (identity.yields()) return 0;
    const long least = engine.hosts != nullptr ? 0 : 1;
    return static_cast<int>(std::clamp(cores_a_rank(identity) - 1, least, most));
}

/// Sets how long the engine's thread waits between two looks. If there are several hosts and
/// threads have no cores of their own, looks that find nothing take more from others than they
/// gain. A rank that has no messages for other hosts waits longer, and then finds more to do at
/// once (docs/decisions/034-engine-hosts.md).
void pause_between_looks(const GC_Engine_s& engine, EngineOptions& options) {
    using std::chrono::microseconds;
    constexpr long threads_a_rank = 3;  // the program's, that of transfer, one that computes
    const CommIdentity& identity = engine.context->identity();
    if (identity.is_one_host() || cores_a_rank(identity) >= threads_a_rank) return;
    const bool has_messages = engine.hosts == nullptr || engine.hosts->is_leader();
    options.least_pause = has_messages ? microseconds(200) : microseconds(50);
    options.most_pause = has_messages ? microseconds(200) : microseconds(500);
}

/// From this number of ranks on, the messages of all are more work for rank 0 than a second hop
/// takes.
constexpr int least_ranks_by_hosts = 8;

/// Programs that have all gradients at once hand one in each microsecond or two; between those of a
/// backward pass there is more, and to begin them this much later costs nothing.
constexpr std::uint64_t settling_ns = 100'000;

Circle circle_of(const GC_Engine_s& engine) {
    const CommIdentity& identity = engine.context->identity();
    const EngineCoordinator wish = engine.settings.engine.coordinator;
    const bool by_hosts =
        wish == EngineCoordinator::hosts ||
        (wish != EngineCoordinator::flat && identity.rank_count() >= least_ranks_by_hosts);
    return by_hosts ? circle_of_hosts(engine.context->tree(), identity.rank())
                    : flat_circle(identity.rank(), identity.rank_count());
}

EngineOptions options_of(const GC_Engine_s& engine) {
    const CommIdentity& identity = engine.context->identity();
    const EngineSettings& settings = engine.settings.engine;
    EngineOptions options{
        .compute_threads = compute_threads(engine),
        .own_thread = identity.all_ranks_have_threads(),
        .yields = identity.yields(),
        .settling_ns = settings.coordinator == EngineCoordinator::off ? 0 : settling_ns,
        .most_bytes = settings.most_bytes,
        .stall_ns = static_cast<std::uint64_t>(settings.stall_seconds) * 1'000'000'000,
        .packer = engine.packs.get(),
        .most_pack_bytes = engine.choice->pack_bytes(),
        .watches_links = watches_links(engine),
        .peers = identity.watch(),
        .votes = votes_of(engine),
        .checked = engine.settings.check_sums,
        .circle = circle_of(engine),
        .trace = process_trace()};
    pause_between_looks(engine, options);
    return options;
}

/// Returns the plan that rank 0 reads. Collective. Errors: those of read_file() and
/// GradientPlan::parse(), the same on all ranks.
Result<GradientPlan> plan_of_rank_0(const std::string& path, const CommIdentity& identity) {
    constexpr std::size_t most_bytes = std::size_t{1} << 26;
    const auto read = identity.rank() == 0 && !path.empty() ? read_file(path) : std::string();
    bool is_read = read.ok();
    const MPI_Comm comm = identity.private_comm();
    GRADCOLL_TRY(broadcast(comm, is_read));
    const std::string text =
        GRADCOLL_VALUE(text_of_rank_0(comm, read ? *read : read.status().message(), most_bytes));
    if (!is_read)
        return Status(Code::invalid_argument, fmt::format("gc_engine_plan: {}", printable(text)));
    if (text.empty()) return GradientPlan();
    return GradientPlan::parse(text, fmt::format("gc_engine_plan: {}", printable(path)));
}

bool packs_gradients(const GC_Engine_s& engine) {
    return engine.settings.engine.pack_bytes != 0U && !engine.settings.reproducible &&
           engine.context->identity().rank_count() > 1;
}

std::string codec_text(const GradientWay& way) {
    if (!way.key.compress) return "exact";
    return way.planner->codec.empty() ? way.planner->settings.codecs().text() : way.planner->codec;
}

PlannedGradient planned_gradient(const GC_Engine_s& engine, const Gradient& gradient) {
    const auto& work = static_cast<const GradientSum&>(*gradient.work);
    PlannedGradient row;
    row.name = gradient.name();
    row.bytes = work.shape().size_bytes();
    row.predicted_us = engine.choice->predicted_us(work.way);
    row.measured_us = static_cast<double>(gradient.took_ns()) * 1e-3;
    if (work.way.passes()) return row;
    row.strategy = name_of(work.way.planner->strategy);
    row.codec = codec_text(work.way);
    row.parts = work.parts();
    row.is_packed = work.way.packed;
    return row;
}

/// Makes the context of an engine, with its tree. Collective.
Result<std::shared_ptr<CommContext>> context_for(MPI_Comm comm, const SettingsWish& wish) {
    auto context = GRADCOLL_VALUE(CommContext::make(comm, wish));
    GRADCOLL_TRY(context->prepare_tree());
    GRADCOLL_TRY(context->keep_plans());
    return context;
}

/// Makes all else that an engine has. Collective.
Status build_on(std::shared_ptr<CommContext> context, GC_Engine_s& engine) {
    engine.context = std::move(context);
    engine.settings = engine.context->settings().current();
    const CommIdentity& identity = engine.context->identity();
    auto plan = plan_of_rank_0(engine.settings.engine.plan_file, identity);
    if (!plan) return plan.status();
    GRADCOLL_TRY(take(engine.hosts, GradientHosts::make(identity, engine.settings)));
    GRADCOLL_TRY(take(engine.choice,
                      GradientChoice::make(
                          *engine.context, engine.settings, std::move(plan).value(),
                          engine.hosts != nullptr ? engine.hosts->leader_of() : std::vector<int>(),
                          packs_gradients(engine))));
    GRADCOLL_TRY(take(engine.control, NumberedChannel::make(identity)));
    if (engine.settings.engine.coordinator == EngineCoordinator::off)
        GRADCOLL_TRY(take(engine.own_sums, NumberedChannel::make(identity)));
    if (packs_gradients(engine))
        engine.packs = std::make_unique<GradientPacks>(
            [&engine](const GradientWay& member, const CallShape& shape) {
                return packed_sum(engine, member, shape);
            });
    return take(engine.engine, Engine::make(engine.control->channel(), options_of(engine)));
}

/// Takes down all that an engine has for its communicator, but what was dropped, which is kept by
/// element for the tree of `next`.
Status leave_comm(GC_Engine_s& engine, const std::shared_ptr<CommContext>& next) {
    if (engine.engine != nullptr) report_engine(engine);
    GRADCOLL_TRY(keep_dropped_by_element(engine, next));
    add_stats(engine.context->statistics().read(), engine.stats_before);
    engine.engine.reset();
    engine.packs.reset();
    engine.copies.clear();
    engine.gradients.clear();
    engine.own_sums.reset();
    engine.control.reset();
    engine.choice.reset();
    engine.hosts.reset();
    return {};
}

}  // namespace

Result<std::unique_ptr<GC_Engine_s>> make_engine(MPI_Comm comm, MPI_Info info, Status complaint) {
    SettingsWish wish{SettingsText::from_environment(), std::move(complaint)};
    if (wish.complaint.ok()) wish.complaint = add_info(info, wish.text);
    if (const auto settings = Settings::parse(wish.text); wish.complaint.ok() && settings.ok())
        wish.complaint = check_fits_engines(*settings);
    auto made = std::make_unique<GC_Engine_s>();
    GRADCOLL_TRY(build_on(GRADCOLL_VALUE(context_for(comm, wish)), *made));
    return made;
}

Status move_engine(GC_Engine_s& engine, MPI_Comm comm) {
    const std::scoped_lock lock(engine.submits);
    if (engine.engine != nullptr) engine.engine->settle();
    SettingsWish wish = wish_like(comm, *engine.context);
    const auto held = std::count_if(engine.gradients.begin(), engine.gradients.end(),
                                    [](const Gradient* gradient) { return gradient->is_busy(); });
    if (held > 0)
        wish.complaint = {
            Code::invalid_argument,
            fmt::format("engine has {} gradients whose handles are not complete; wait for them "
                        "first",
                        held)};
    auto context = GRADCOLL_VALUE(context_for(comm, wish));
    GRADCOLL_TRY(leave_comm(engine, context));
    return build_on(std::move(context), engine);
}

void add_stats(const GC_Stats& more, GC_Stats& sum) {
    sum.calls_tree += more.calls_tree;
    sum.calls_compressed += more.calls_compressed;
    sum.calls_passed += more.calls_passed;
    sum.bytes_reduced += more.bytes_reduced;
    sum.bytes_sent += more.bytes_sent;
    sum.bytes_sent_exact += more.bytes_sent_exact;
    sum.messages_sent += more.messages_sent;
    sum.seconds_total += more.seconds_total;
    sum.last_pass_reason = more.last_pass_reason;
    sum.last_agents = more.last_agents;
}

void report_engine(const GC_Engine_s& engine) {
    if (const auto entry = report_entry(engine.context->identity().private_comm()))
        entry->report.add_engine(entry->comm, engine.engine->figures());
}

Status write_plan(const GC_Engine_s& engine) {
    const std::string& path = engine.settings.engine.plan_to;
    if (path.empty() || engine.context->identity().rank() != 0) return {};
    std::vector<PlannedGradient> rows;
    for (const Gradient* gradient : engine.gradients)
        rows.push_back(planned_gradient(engine, *gradient));
    return write_file(path, plan_text(rows, engine.engine->figures()));
}

}  // namespace gradcoll
