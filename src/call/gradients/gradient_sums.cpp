#include "call/gradients/gradient_sums.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hash.hpp"
#include "call/anywhere/integer_reduction.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

/// Returns why the MPI library sums it; none if it does not.
PassReason reason_to_pass_of(const Classified& classified) {
    if (classified.passes()) return classified.pass_reason;
    return classified.shape.mpi_reason;
}

bool goes_as_before(const Gradient& gradient, const CallArguments& arguments,
                    const Classified& classified) {
    const auto* const before = static_cast<const GradientSum*>(gradient.work.get());
    const CallShape& shape = classified.shape;
    return before != nullptr && !before->way.passes() &&
           before->links_carry == gradient.links_carry() &&
           reason_to_pass_of(classified) == PassReason::none &&
           before->shape().kind == shape.kind && before->shape().count == shape.count &&
           before->way.key.in_place == is_in_place(arguments);
}

Result<std::shared_ptr<PlannedCall>> planned(const GC_Engine_s& engine, const GradientWay& way,
                                             CallKey key) {
    GradientPlanner& planner = *way.planner;
    if (way.goes(hosts_way())) key.in_place = key.in_place || !engine.hosts->is_alone();
    for (const auto& call : planner.plans)
        if (call->key() == key) return call;
    auto call = way.goes(hosts_way())
                    ? engine.hosts->plans().plan_apart(planner.tree, planner.settings, key)
                    : engine.context->plans().plan_apart(planner.tree, planner.settings, key,
                                                         engine.own_sums.get());
    if (call) planner.plans.push_back(*call);
    return call;
}

Result<std::unique_ptr<GradientSum>> planned_work(CommContext& context,
                                                  std::shared_ptr<PlannedCall> call,
                                                  std::shared_ptr<Residual> residual,
                                                  std::optional<TagLayout> own_tags) {
    auto executor = call->take_executor({});
    if (!executor) return executor.status();
    return std::unique_ptr<GradientSum>(std::make_unique<PlannedWork>(
        context, std::move(call), std::move(executor).value(), std::move(residual), own_tags));
}

/// Returns the call with its input in the result's place.
CallArguments in_result(const CallArguments& arguments, const Classified& classified) {
    CallArguments whole = arguments;
    whole.sendbuf = MPI_IN_PLACE;
    if (!is_in_place(arguments))
        std::memcpy(arguments.recvbuf, arguments.sendbuf, classified.shape.size_bytes());
    return whole;
}

/// Returns the tags of sums with numbers of their own; nothing if sums are numbered in the order of
/// all.
Result<std::optional<TagLayout>> own_tags_of(const GC_Engine_s& engine) {
    if (engine.own_sums == nullptr) return std::optional<TagLayout>();
    const auto tags = TagLayout::make(engine.own_sums->channel().tag_limit(), 1);
    if (!tags) return tags.status();
    return std::optional(*tags);
}

}  // namespace

Result<Given> given_to(GC_Engine_s& engine, const Gradient& gradient,
                       const CallArguments& arguments, const Classified& classified) {
    const PassReason pass_reason = reason_to_pass_of(classified);
    if (engine.settings.anywhere)
        GRADCOLL_TRY(check_same_anywhere(classified.shape, pass_reason, arguments.op,
                                         engine.context->identity().rank_count()));
    Given given{arguments, classified.shape, {.pass_reason = pass_reason}};
    if (pass_reason == PassReason::none)
        GRADCOLL_TRY(take(given.way, engine.choice->way_of(gradient.name(), gradient.links_carry(),
                                                           arguments, given.shape)));
    return given;
}

Result<Given> given_again(GC_Engine_s& engine, const Gradient& gradient,
                          const CallArguments& arguments, const Classified& classified) {
    if (!goes_as_before(gradient, arguments, classified))
        return given_to(engine, gradient, arguments, classified);
    return Given{arguments, classified.shape, static_cast<const GradientSum&>(*gradient.work).way};
}

Result<std::shared_ptr<PlannedCall>> planned_with_feedback_if_lossy(const GC_Engine_s& engine,
                                                                    const GradientWay& way) {
    CallKey key = way.key;
    auto call = planned(engine, way, key);
    if (!key.feedback || !call || (*call)->lossy()) return call;
    key.feedback = false;
    return planned(engine, way, key);
}

bool plans_itself(const GC_Engine_s& engine, const GradientWay& way) {
    return way.goes(tree_way()) || (way.goes(hosts_way()) && engine.hosts->is_leader());
}

Result<std::optional<ResidualIdentity>> residual_identity_of(const GC_Engine_s& engine,
                                                             const GradientWay& way) {
    const int rank = engine.context->identity().rank();
    std::optional<ResidualIdentity> identity;
    if (way.passes() || way.goes(one_host_way()) || !way.key.feedback) return identity;
    if (plans_itself(engine, way) && way.packed) {
        identity = identity_by_element(way.key.count, way.key.type, way.planner->tree, rank);
    } else if (plans_itself(engine, way)) {
        const auto call = GRADCOLL_VALUE(planned_with_feedback_if_lossy(engine, way));
        if (call->key().feedback) identity = identity_of(*call, way.planner->tree, rank);
    } else {
        identity = ResidualIdentity{.count = static_cast<std::uint64_t>(way.key.count),
                                    .type = way.key.type,
                                    .tree_hash = way.planner->tree.hash(),
                                    .rank = static_cast<std::uint64_t>(rank)};
    }
    return identity;
}

std::shared_ptr<Residual> residual_for(GC_Engine_s& engine, const std::string& name,
                                       const ResidualIdentity& identity) {
    GC_Residual_s& kept =
        engine.residuals.try_emplace(name, GC_Residual_s{engine.context, nullptr, "GC_Engine_free"})
            .first->second;
    if (kept.residual == nullptr || !kept.residual->check_fits(identity).ok())
        kept.residual = std::make_shared<Residual>(identity);
    kept.residual->belong_to(identity);
    return kept.residual;
}

bool is_kept_by_element(const Residual& residual, const Classified& classified) {
    const ResidualIdentity& identity = residual.identity();
    return residual.is_by_element() && !classified.passes() &&
           identity.type == classified.shape.type &&
           identity.count == static_cast<std::uint64_t>(classified.shape.count);
}

Status keep_dropped_by_element(GC_Engine_s& engine, const std::shared_ptr<CommContext>& next) {
    std::unordered_map<std::string, const PlannedCall*> calls;
    for (const Gradient* gradient : engine.gradients)
        calls[gradient->name()] = static_cast<const GradientSum&>(*gradient->work).call();
    for (auto& [name, handle] : engine.residuals) {
        const ResidualIdentity& old = handle.residual->identity();
        const ResidualIdentity identity = identity_by_element(
            static_cast<std::int64_t>(old.count), old.type, next->tree(), next->identity().rank());
        const PlannedCall* const call = calls[name];
        if (handle.residual->check_fits(identity).ok())
            handle.residual->belong_to(identity);
        else if (call != nullptr && handle.residual->check_fits(*call).ok())
            GRADCOLL_TRY(
                take(handle.residual, handle.residual->by_element(call->plan(), identity)));
        else
            handle.residual = std::make_shared<Residual>(identity);
        handle.context = next;
    }
    return {};
}

namespace {

/// Returns what to sum in the first sum of a name on this communicator: with what was kept on an
/// earlier one, unless its sums go on with that.
Result<CallArguments> with_what_was_kept(GC_Engine_s& engine, const Gradient& gradient,
                                         const CallArguments& arguments,
                                         const Classified& classified) {
    const auto found = engine.residuals.find(gradient.name());
    if (found == engine.residuals.end()) return arguments;
    Residual& kept = *found->second.residual;
    if (!is_kept_by_element(kept, classified)) return arguments;
    const Given given = GRADCOLL_VALUE(given_to(engine, gradient, arguments, classified));
    const auto identity = GRADCOLL_VALUE(residual_identity_of(engine, given.way));
    if (identity && kept.check_fits(*identity).ok()) return arguments;
    const CallArguments whole = in_result(arguments, classified);
    GRADCOLL_TRY(kept.hand_over(whole.recvbuf));
    return whole;
}

}  // namespace

Result<CallArguments> with_what_was_dropped(GC_Engine_s& engine, const Gradient& gradient,
                                            const CallArguments& arguments,
                                            const Classified& classified) {
    const auto* const before = static_cast<const GradientSum*>(gradient.work.get());
    if (before == nullptr) return with_what_was_kept(engine, gradient, arguments, classified);
    const bool drops = before->links_carry != gradient.links_carry() &&
                       (before->dropped() != nullptr ||
                        (before->call() != nullptr && before->call()->key().feedback));
    if (!drops || before->shape().kind != classified.shape.kind ||
        before->shape().count != classified.shape.count)
        return arguments;
    const Given given = GRADCOLL_VALUE(given_to(engine, gradient, arguments, classified));
    const auto identity = GRADCOLL_VALUE(residual_identity_of(engine, given.way));
    Residual& kept = *engine.residuals.at(gradient.name()).residual;
    if (identity && kept.check_fits(*identity).ok()) return arguments;
    const CallArguments whole = in_result(arguments, classified);
    GRADCOLL_TRY(before->dropped() != nullptr
                     ? kept.hand_over(whole.recvbuf)
                     : kept.hand_over(before->call()->plan(), whole.recvbuf));
    return whole;
}

namespace {

/// Returns where the elements of a pack are that goes this way, over this plan. Scattered, some
/// gradients may be in place where the plan is not: flexreduce reads an element of the input before
/// the rank that needs it can answer with the result.
PackLayout layout_of(const GradientWay& way, const Plan& plan) {
    if (!encodes_each_element_once(plan)) return PackLayout::in_buffer;
    const bool reads_before_it_writes = plan.spec.builder == Builder::flexreduce;
    return way.goes(tree_way()) && reads_before_it_writes && has_messages_in_scratch(plan)
               ? PackLayout::scattered
               : PackLayout::in_buffer_with_parts;
}

/// Makes the work of a sum on a grid over the tree.
Result<std::unique_ptr<GradientSum>> grid_work(const GC_Engine_s& engine, const GradientWay& way) {
    const auto step = [&](const CallKey& key) -> Result<GridWork::Step> {
        auto call = GRADCOLL_VALUE(planned(engine, way, key));
        auto executor = GRADCOLL_VALUE(call->take_executor({}));
        return GridWork::Step{std::move(call), std::move(executor)};
    };
    const GridRun::Keys keys = GridRun::keys_of(way.key.type, way.key.count, engine.settings);
    GridWork::Steps steps;
    GRADCOLL_TRY(take(steps.tops, step(keys.tops)));
    GRADCOLL_TRY(take(steps.words, step(keys.words)));
    GRADCOLL_TRY(take(steps.specials, step(keys.specials)));
    const auto own_tags = GRADCOLL_VALUE(own_tags_of(engine));
    return std::unique_ptr<GradientSum>(
        std::make_unique<GridWork>(*engine.context, std::move(steps), own_tags));
}

/// Makes the work of a sum through the memory of each host; `call` and `residual` are null on ranks
/// that are no leaders.
Result<std::unique_ptr<GradientSum>> hosts_work(const GC_Engine_s& engine,
                                                std::shared_ptr<PlannedCall> call,
                                                std::shared_ptr<Residual> residual) {
    std::unique_ptr<Executor> between;
    if (call != nullptr) GRADCOLL_TRY(take(between, call->take_executor({})));
    return std::unique_ptr<GradientSum>(std::make_unique<HostsWork>(
        *engine.context, *engine.hosts, std::move(call), std::move(between), std::move(residual)));
}

Result<std::unique_ptr<GradientSum>> new_work(GC_Engine_s& engine, const Gradient& gradient,
                                              const GradientWay& way) {
    CommContext& context = *engine.context;
    std::unique_ptr<GradientSum> work;
    if (way.passes())
        work = std::make_unique<PassedWork>(context);
    else if (context.identity().rank_count() == 1)
        work = std::make_unique<AloneWork>(context);
    else if (way.goes(one_host_way()))
        work = std::make_unique<HostWork>(context);
    if (work != nullptr) return work;
    if (way.on_grid) return grid_work(engine, way);
    const auto identity = GRADCOLL_VALUE(residual_identity_of(engine, way));
    auto residual = identity ? residual_for(engine, gradient.name(), *identity) : nullptr;
    if (way.packed) {
        if (!plans_itself(engine, way)) residual.reset();
        return std::unique_ptr<GradientSum>(std::make_unique<PartWork>(
            context, std::move(residual), engine.choice->encoded_bytes(way)));
    }
    if (!plans_itself(engine, way)) return hosts_work(engine, nullptr, nullptr);
    auto call = planned_with_feedback_if_lossy(engine, way);
    if (!call) return call.status();
    if (way.goes(hosts_way()))
        return hosts_work(engine, std::move(call).value(), std::move(residual));
    const auto own_tags = GRADCOLL_VALUE(own_tags_of(engine));
    return planned_work(context, std::move(call).value(), std::move(residual), own_tags);
}

}  // namespace

Result<GradientSum*> work_for(GC_Engine_s& engine, Gradient& gradient, const GradientWay& way) {
    auto* const before = static_cast<GradientSum*>(gradient.work.get());
    if (before != nullptr && before->way == way) {
        before->links_carry = gradient.links_carry();
        return before;
    }
    auto made = new_work(engine, gradient, way);
    if (!made) return made.status();
    GradientSum* const work = made->get();
    work->handle = {&engine, &gradient};
    work->way = way;
    work->links_carry = gradient.links_carry();
    if (watches_links(engine)) work->expected = engine.choice->expected(way);
    gradient.work = std::move(made).value();
    return work;
}

Result<std::unique_ptr<PackedSum>> packed_sum(const GC_Engine_s& engine, const GradientWay& member,
                                              const CallShape& shape) {
    CommContext& context = *engine.context;
    GradientWay way = engine.choice->pack_way(member, shape);
    const auto made = [&](std::unique_ptr<GradientSum> work, PackLayout layout) {
        work->way = way;
        return std::make_unique<PackedSum>(std::move(work), shape, layout);
    };
    if (way.goes(one_host_way()))
        return made(std::make_unique<HostWork>(context), PackLayout::scattered);
    if (!plans_itself(engine, way))
        return made(GRADCOLL_VALUE(hosts_work(engine, nullptr, nullptr)), PackLayout::in_buffer);
    CommPlans& plans = way.goes(hosts_way()) ? engine.hosts->plans() : context.plans();
    const auto plan = [&](bool in_place) {
        way.key.in_place = in_place;
        return plans.plan_apart(way.planner->tree, way.planner->settings, way.key);
    };
    const bool may_be_scattered = way.goes(tree_way()) && way.key.feedback;
    std::shared_ptr<PlannedCall> call = GRADCOLL_VALUE(plan(!may_be_scattered));
    const PackLayout layout = layout_of(way, call->plan());
    // In a buffer the result takes the place of the input.
    if (may_be_scattered && layout != PackLayout::scattered) GRADCOLL_TRY(take(call, plan(true)));
    auto work = way.goes(hosts_way()) ? hosts_work(engine, std::move(call), nullptr)
                                      : planned_work(context, std::move(call), nullptr, {});
    if (!work) return work.status();
    return made(std::move(work).value(), layout);
}

bool begins_alone(const GC_Engine_s& engine, const Given& given) {
    return engine.own_sums != nullptr && given.way.goes(tree_way()) &&
           engine.context->identity().rank_count() > 1;
}

/// Watches only if the settings allow it to learn, and if there is a link between hosts to learn
/// of.
bool watches_links(const GC_Engine_s& engine) {
    const Tree& tree = engine.context->tree();
    const auto inner = tree.inner_vertices();
    return engine.settings.engine.replan && engine.settings.tune == Tune::online &&
           engine.own_sums == nullptr && engine.context->identity().rank() == 0 &&
           std::any_of(inner.begin(), inner.end(),
                       [&](int vertex) { return connects_hosts(tree, vertex); });
}

std::uint32_t pack_of(const GC_Engine_s& engine, const std::string& name, const Given& given) {
    const GradientWay& way = given.way;
    const bool is_short_and_exact = !way.passes() && !way.key.compress &&
                                    given.shape.size_bytes() <= engine.choice->pack_bytes() / 16 &&
                                    !engine.choice->has_wish_for(name);
    if (engine.packs == nullptr || begins_alone(engine, given) ||
        !(way.packed || is_short_and_exact))
        return 0;
    return static_cast<std::uint32_t>(Hash()
                                          .value(given.shape.kind)
                                          .value(way.goes(one_host_way()))
                                          .value(way.goes(hosts_way()))
                                          .value(way.packed)
                                          .digest()) |
           1U;
}

}  // namespace gradcoll
