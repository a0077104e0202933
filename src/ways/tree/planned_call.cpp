#include "ways/tree/planned_call.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/spare_room.hpp"
#include "collectives/build/planner.hpp"
#include "collectives/draw/decision_text.hpp"
#include "collectives/predict/model.hpp"
#include "collectives/verify/verify.hpp"
#include "observe/observe.hpp"
#include "runtime/slow_links.hpp"
#include "ways/tree/call_traffic.hpp"

namespace gradcoll {
namespace {

/// Verifies the plans of all ranks together. That takes time and memory in proportion to them, so
/// calls of many ranks are left out.
Status verify_all_ranks(const Tree& tree, const PlanSpec& spec) {
    constexpr int most_ranks = 64;
    if (tree.rank_count() > most_ranks) return {};
    std::vector<Plan> plans;
    const auto planner = Planner::make(tree, spec);
    if (!planner) return planner.status();
    for (int rank = 0; rank < tree.rank_count(); ++rank) {
        auto plan = planner->plan(rank);
        if (!plan) return plan.status();
        plans.push_back(std::move(plan).value());
    }
    return verify(tree, plans);
}

void add_encode_ranges(Hash& hash, const Schedule& schedule) {
    for (const Step& step : schedule.steps)
        if (step.kind == StepKind::encode)
            hash.value(step.level).value(step.range.begin).value(step.range.end);
}

/// Residuals hold a value for every encoded element, in step order, chunk after chunk.
std::uint64_t residual_layout_of(const Plan& plan) {
    Hash hash;
    hash.value(plan.chunk_count).value(plan.residual_elems());
    add_encode_ranges(hash, plan.body);
    add_encode_ranges(hash, plan.tail);
    return hash.digest();
}

/// Returns null if nobody wants to know.
std::unique_ptr<const LinkUse> link_use_of(const Tree& tree, const PlanSpec& spec,
                                           const Plan& plan) {
    const LinksWanted wanted = links_wanted();
    if (!wanted.any()) return nullptr;
    auto use = std::make_unique<LinkUse>();
    if (wanted.of_all_ranks) use->of_all_ranks = traffic_of_call(tree, spec);
    if (wanted.of_this_rank) {
        use->of_this_rank = sent_by_kind(tree, plan);
        use->own_links = own_links(tree, plan);
    }
    if (const CodecId codec = lossy_codec_of(tree, plan.spec); codec != CodecId::exact)
        use->codec = name_of(codec);
    return use;
}

}  // namespace

Result<std::shared_ptr<PlannedCall>> PlannedCall::make(const PlanningFacts& facts,
                                                       const Settings& settings,
                                                       const CallKey& key) {
    const Decision decision = decision_for(facts.tree, settings, key);
    const PlanSpec& spec = decision.spec;
    auto plan = make_plan(facts.tree, spec, facts.rank);
    if (!plan) return plan.status();
    if (settings.check != CheckLevel::off) GRADCOLL_TRY(verify_all_ranks(facts.tree, spec));

    std::shared_ptr<PlannedCall> call(new PlannedCall);
    call->key_ = key;
    const auto cost = sending_cost_of(facts.tree, *plan);
    if (!cost) return cost.status();
    call->lossy_ = cost->lossy && key.compress && !key.words;
    if (spec.builder != Builder::flexreduce) call->other_builder_ = name_of(spec.builder).data();
    call->residual_layout_ = residual_layout_of(*plan);
    call->exact_bytes_ = cost->exact_bytes;
    call->link_use_ = link_use_of(facts.tree, spec, *plan);
    call->plan_ = std::make_shared<const Plan>(std::move(plan).value());
    call->channel_ = &facts.channel;
    call->executor_options_.chunks_in_flight = settings.chunks_in_flight;
    call->executor_options_.paced = knows_links(facts.tree);
    call->executor_options_.cut_peers = peers_over_slow_links(facts.tree, *call->plan_);
    call->executor_options_.plain_peers = peers_on_own_host(facts.tree, *call->plan_);
    call->executor_options_.yield_always = facts.yield_always;
    call->executor_options_.device = facts.reader;
    call->executor_options_.among_devices = facts.among_devices;
    call->executor_options_.checked = settings.check_sums && !facts.among_devices;
    call->executor_options_.peers = facts.peers;
    call->executor_options_.in_job = facts.in_job;
    call->executor_options_.scratch = facts.scratch;
    call->executor_options_.timed = observing_calls();
    call->executor_options_.trace = process_trace();
    call->executor_options_.predicted_us = decision.predicted_us;
    if (log_enabled(LogLevel::debug))
        log(LogLevel::debug, "planned {} elements of {}: sends {} bytes ({} if exact)\n{}",
            key.count, name_of(key.type), cost->bytes, cost->exact_bytes,
            text_of(facts.tree, decision, *settings.tuning));
    return call;
}

Result<std::unique_ptr<Executor>> PlannedCall::take_executor(const ExecutorUse& use) {
    std::unique_ptr<Executor> executor;
    if (use.waited && !use.data_device) {
        executor = std::move(waited_);
    } else {
        const std::scoped_lock lock(mutex_);
        const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const auto& idle) {
            return idle->data_device() == use.data_device.get();
        });
        if (found != idle_.end()) {
            executor = std::move(*found);
            idle_.erase(found);
        }
    }
    return executor == nullptr ? make_executor(use) : std::move(executor);
}

/// Makes an executor with enough stack: this is called deep inside a call, where a small stack may
/// have little left.
Result<std::unique_ptr<Executor>> PlannedCall::make_executor_on_host() const {
    Result<std::unique_ptr<Executor>> executor = std::unique_ptr<Executor>();
    run_with_room_on_stack([&] { executor = Executor::make(plan_, *channel_, executor_options_); });
    return executor;
}

Result<std::unique_ptr<Executor>> PlannedCall::make_executor(const ExecutorUse& use) const {
    if (use.data_device == nullptr) return make_executor_on_host();
    Executor::Options options = executor_options_;
    options.data_on_device = true;
    options.device = use.data_device;
    auto executor = Executor::make(plan_, *channel_, options);
    if (executor || !use.host_will_do) return executor;
    return make_executor_on_host();
}

void PlannedCall::give_back(std::unique_ptr<Executor> executor, bool waited) {
    if (waited && executor->data_device() == nullptr) {
        waited_ = std::move(executor);
        return;
    }
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(executor));
}

}  // namespace gradcoll
