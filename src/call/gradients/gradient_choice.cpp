#include "call/gradients/gradient_choice.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "call/anywhere/integer_reduction.hpp"
#include "collectives/choose/options.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/model.hpp"
#include "comm/unused_codec.hpp"
#include "reduce/grid.hpp"
#include "ways/codec_use.hpp"
#include "ways/hosts/several_hosts.hpp"
#include "ways/learn/link_timing.hpp"
#include "ways/route.hpp"

namespace gradcoll {
namespace {

Forecast forecast_of(const GradientWay& way) {
    const GradientPlanner& planner = *way.planner;
    CallKey key = way.key;
    key.in_place = false;  // ranks may differ in it
    return forecast_tree(planner.tree, *planner.settings.tuning,
                         decision_for(planner.tree, planner.settings, key).spec,
                         planner.settings.chunks_in_flight);
}

/// Returns what a sum costs those beside it: its time on the busiest link or core, or half of its
/// whole time if that is more, as its messages wait for one another and at least two sums are under
/// way.
double busy_us(const GradientWay& way) {
    const Forecast forecast = forecast_of(way);
    return std::max({forecast.slowest_link_us, forecast.core_total_us, forecast.total_us / 2});
}

/// Returns the chunk size that cuts the vector into as many parts as the wish says; nothing if it
/// does not say.
std::optional<std::uint64_t> chunk_bytes_for(const GradientWish* wish, const CallShape& shape) {
    if (wish == nullptr || !wish->parts) return {};
    const auto parts = static_cast<std::uint64_t>(*wish->parts);
    return parts == 1 ? 0 : (shape.size_bytes() + parts - 1) / parts;
}

/// Returns whether the wish says so much that links cannot change anything.
bool says_all(const GradientWish* wish) {
    return wish != nullptr && wish->strategy && !wish->codec.empty() && wish->parts;
}

/// Returns the time on the busiest link between hosts.
double between_hosts_us(const Tree& tree, const Tuning& tuning, std::vector<double> bytes) {
    if (bytes.empty()) return 0;
    for (int vertex = 1; vertex < tree.vertex_count(); ++vertex)
        if (!connects_hosts(tree, tree.vertex(vertex).parent))
            bytes[static_cast<std::size_t>(vertex)] = 0;
    return busiest_link(tree, tuning, bytes).us;
}

/// Returns how many hosts the tree has between which links are.
int hosts_at_links(const Tree& tree) {
    int hosts = 0;
    for (int vertex = 1; vertex < tree.vertex_count(); ++vertex)
        if (connects_hosts(tree, tree.vertex(vertex).parent) && !connects_hosts(tree, vertex))
            ++hosts;
    return hosts;
}

/// Returns how many bytes the gradients of a pack may send together if no setting says so. Longer
/// packs have fewer messages, but sums that are long on the wire leave less to run beside them. A
/// pack is cut into a message for each host, so more than four hosts are given longer ones. On slow
/// links messages take longer than what they cost the cores, and long packs gain nothing.
std::uint64_t usual_pack_bytes(const Tree& tree, const Tuning& tuning) {
    constexpr double pack_us = 8000;
    constexpr double least = 128 << 10, least_to_grow = 512 << 10, most = 1 << 20;
    const std::vector<double> bytes(static_cast<std::size_t>(tree.vertex_count()), most);
    const double us = between_hosts_us(tree, tuning, bytes);
    const double of_few_hosts = us > 0 ? std::clamp(most * pack_us / us, least, most) : most;
    const double growth = std::clamp(hosts_at_links(tree) / 4.0, 1.0, 4.0);
    return static_cast<std::uint64_t>(of_few_hosts * (of_few_hosts < least_to_grow ? 1 : growth));
}

}  // namespace

std::int64_t pack_granule_of(const GradientWay& member) {
    std::size_t granule = 1;
    if (!member.packed) return 1;
    const std::vector<CodecId> codecs = member.whole->settings.named_codecs();
    for (const CodecId codec : codecs) granule = std::max(granule, codec_block_elems(codec));
    return static_cast<std::int64_t>(granule);
}

Result<std::unique_ptr<GradientChoice>> GradientChoice::make(CommContext& context,
                                                             const Settings& settings,
                                                             GradientPlan plan,
                                                             std::vector<int> leader_of,
                                                             bool packs) {
    std::unique_ptr<GradientChoice> made(
        new GradientChoice(context, settings, std::move(plan), std::move(leader_of)));
    if (packs)
        made->pack_bytes_ =
            settings.engine.pack_bytes.value_or(usual_pack_bytes(context.tree(), *settings.tuning));
    auto base = made->new_planner(settings.engine.strategy.value_or(EngineStrategy::tree), {});
    if (!base) return base.status();
    made->planners_.push_back(std::move(base).value());
    return made;
}

Result<std::unique_ptr<GradientPlanner>> GradientChoice::new_planner(EngineStrategy strategy,
                                                                     const Terms& terms) const {
    const DiscoveredTree machine = tree_for(terms.links_carry);
    auto tree = strategy_tree(strategy, machine.tree);
    if (!tree) return tree.status();
    const GradientWish* const wish = terms.wish;
    auto made = std::make_unique<GradientPlanner>();
    made->links_carry = terms.links_carry;
    made->strategy = strategy;
    made->tree = std::move(tree->tree);
    made->settings = settings_;
    if (!tree->exchange.empty())
        GRADCOLL_TRY(take(made->settings.exchange, level_exchanges_from(tree->exchange)));
    else
        made->one_host = context_.one_host().open();
    if (wish != nullptr && !wish->codec.empty() && settings_.loss_in_doubt) {
        tell_codec_in_doubt(context_.identity(), "codec " + wish->codec);
    } else if (wish != nullptr && !wish->codec.empty()) {
        made->codec = wish->codec;
        made->settings.level_codecs = wish->codecs;
        made->settings.min_bytes = 0;
        made->settings.max_bytes.reset();
        made->settings.compress_if = CompressIf::always;
    } else if (terms.for_packs) {
        made->for_packs = true;
        made->settings.min_bytes = 0;
        made->settings.max_bytes.reset();
    }
    if (strategy == EngineStrategy::tree && !leader_of_.empty()) plan_between(*made, machine);
    return made;
}

DiscoveredTree GradientChoice::tree_for(double links_carry) const {
    DiscoveredTree tree = *context_.tree_handle();
    if (links_carry != 1)
        tree.tree = with_part_between_hosts(tree.tree, *settings_.tuning, links_carry);
    return tree;
}

/// Plans the sums between hosts. If the leaders of hosts make no tree there is no such plan, and
/// all ranks send messages.
void GradientChoice::plan_between(GradientPlanner& planner, const DiscoveredTree& tree) const {
    auto between = BetweenHosts::make(tree, planner.settings, leader_of_);
    if (!between) return log(LogLevel::debug, "{}", between.status().message());
    planner.is_lossy_between = between->has_lossy;
    planner.between = std::make_unique<GradientPlanner>();
    planner.between->strategy = planner.strategy;
    planner.between->codec = planner.codec;
    planner.between->for_packs = planner.for_packs;
    planner.between->links_carry = planner.links_carry;
    planner.between->tree = between->tree->tree;
    planner.between->settings = std::move(between->settings);
}

Result<GradientPlanner*> GradientChoice::planner(EngineStrategy strategy, const Terms& terms,
                                                 const CallShape& shape) {
    const GradientWish* const wish = terms.wish;
    const std::string codec = wish != nullptr ? wish->codec : std::string();
    const auto chunk_bytes = chunk_bytes_for(wish, shape);
    for (const auto& known : planners_)
        if (known->strategy == strategy && known->codec == codec &&
            known->chunk_bytes == chunk_bytes && known->links_carry == terms.links_carry &&
            known->for_packs == terms.for_packs)
            return known.get();
    auto made = new_planner(strategy, terms);
    if (!made) return made.status();
    (*made)->chunk_bytes = chunk_bytes;
    if (chunk_bytes) (*made)->settings.chunk_bytes = chunk_bytes;
    if (chunk_bytes && (*made)->between != nullptr)
        (*made)->between->settings.chunk_bytes = chunk_bytes;
    planners_.push_back(std::move(made).value());
    return planners_.back().get();
}

GradientWay GradientChoice::way_by(GradientPlanner& planner, bool in_place, const CallShape& shape,
                                   Loss loss) const {
    const bool anywhere = is_same_anywhere(planner.settings, shape);
    const bool on_grid = anywhere && shape.op == ReduceOp::sum;
    const OneHost& host = context_.one_host();
    const bool one_host =
        planner.one_host && host.takes(shape) && (!on_grid || host.takes(grid_reducer(shape.type)));
    const bool hosts = !on_grid && planner.between != nullptr &&
                       fits_memory_of_hosts(context_.identity(), planner.settings, shape);
    WayOffers offers;
    offers.add(one_host_way(), {.exact = one_host});
    offers.add(hosts_way(), {.exact = hosts, .lossy = hosts && planner.is_lossy_between});
    Route route = route_unless_left_out(
        planner.settings, shape,
        {.in_place = in_place,
         .sums = shape.sums(),
         .always_exact = loss == Loss::none,
         .comm_may_be_lossy = planner.settings.compress_comms.allows(context_.identity().name()),
         .offers = offers},
        [&](const Route& compressed) {
            const GradientPlanner& used = compressed.goes(hosts_way()) ? *planner.between : planner;
            CallKey key = compressed.key;
            key.in_place = false;  // ranks may differ in it
            return codec_use({used.tree, used.settings, key,
                              one_host ? context_.identity().rank_count() : 0})
                .left_out;
        });
    if (loss == Loss::allowed)
        note_codec_of(context_.identity(), planner.settings, shape, route.exact_reason);
    if (anywhere) route.pass_reason = PassReason::none;
    GradientWay way{.way = route.goes(mpi_way()) ? &tree_way() : route.way,
                    .planner = route.goes(hosts_way()) ? planner.between.get() : &planner,
                    .whole = &planner,
                    .key = route.key};
    way.key.feedback = route.key.compress && planner.settings.feedback;
    way.on_grid = on_grid;
    return way;
}

Result<GradientWay> GradientChoice::best_way(const Terms& terms, bool in_place,
                                             const CallShape& shape) {
    const GradientWish* const wish = terms.wish;
    const auto strategy =
        wish != nullptr && wish->strategy ? wish->strategy : settings_.engine.strategy;
    GradientWay best =
        way_by(*GRADCOLL_VALUE(planner(strategy.value_or(EngineStrategy::tree), terms, shape)),
               in_place, shape);
    if (strategy || best.goes(one_host_way()) || shape.count == 0 ||
        context_.identity().rank_count() == 1)
        return best;
    double best_us = busy_us(best);
    for (const EngineStrategy other : {EngineStrategy::ring, EngineStrategy::ps}) {
        const GradientWay way =
            way_by(*GRADCOLL_VALUE(planner(other, terms, shape)), in_place, shape);
        const double us = busy_us(way);
        if (us >= best_us) continue;
        best = way;
        best_us = us;
    }
    return best;
}

/// Returns whether such a gradient is compressed if that pays.
bool GradientChoice::may_be_compressed(bool in_place, const CallShape& shape) const {
    return route_of(
               settings_, shape,
               {.in_place = in_place,
                .sums = shape.sums(),
                .comm_may_be_lossy = settings_.compress_comms.allows(context_.identity().name())})
        .key.compress;
}

std::uint64_t GradientChoice::encoded_bytes(const GradientWay& member) const {
    std::size_t most = 0;
    const HopCodecs codecs = member.whole->settings.codecs();
    for (const CodecId codec : codecs.named())
        if (codec != CodecId::exact && codec_supports(codec, member.key.type))
            most = std::max(most, bound_bytes(codec, member.key.elem_bytes,
                                              static_cast<std::size_t>(member.key.count)));
    return most;
}

Result<GradientWay> GradientChoice::way_of(const std::string& name, double links_carry,
                                           const CallArguments& arguments, const CallShape& shape) {
    const GradientWish* const wish = plan_.find(name);
    const bool in_place = is_in_place(arguments);
    const Terms terms{wish, says_all(wish) ? 1 : links_carry};
    const bool in_order = settings_.engine.coordinator != EngineCoordinator::off;
    if (pack_bytes_ > 0 && in_order && wish == nullptr && may_be_compressed(in_place, shape)) {
        CallShape full_pack = shape;
        full_pack.count = static_cast<std::int64_t>(pack_bytes_ / shape.elem_bytes);
        GradientWay member =
            GRADCOLL_VALUE(best_way({nullptr, links_carry, true}, in_place, full_pack));
        member.key.count = shape.count;
        member.packed = true;
        if (member.key.compress && encoded_bytes(member) <= pack_bytes_ / 4) return member;
    }
    return best_way(terms, in_place, shape);
}

/// Plans compressed packs with feedback always: what was dropped of a gradient leaves with the next
/// sum of its pack, also if that is exact, and without residuals such plans lose as much as others.
GradientWay GradientChoice::pack_way(const GradientWay& member, const CallShape& shape) const {
    GradientWay way =
        way_by(*member.whole, true, shape, member.packed ? Loss::allowed : Loss::none);
    if (!member.packed) return way;
    way.key.feedback = way.goes(tree_way()) || way.goes(hosts_way());
    return way;
}

double GradientChoice::predicted_us(const GradientWay& way) const {
    if (way.passes() || way.key.count == 0) return 0;
    const int ranks = context_.identity().rank_count();
    if (way.goes(one_host_way()))
        return forecast_shared_memory(*way.planner->settings.tuning, ranks,
                                      way.key.count * way.key.elem_bytes, way.key.in_place)
            .total_us;
    return ranks > 1 ? forecast_of(way).total_us : 0;
}

ExpectedTime GradientChoice::expected(const GradientWay& way) const {
    constexpr std::int64_t least_bytes = 512 << 10;
    const bool is_long =
        way.key.count * static_cast<std::int64_t>(way.key.elem_bytes) >= least_bytes;
    if (way.passes() || way.goes(one_host_way()) || way.on_grid || !is_long ||
        context_.identity().rank_count() == 1)
        return {};
    const Forecast forecast = forecast_of(way);
    const GradientPlanner& planner = *way.planner;
    return {planner.links_carry *
                between_hosts_us(planner.tree, *planner.settings.tuning, forecast.bytes_on_links),
            forecast.latency_us};
}

}  // namespace gradcoll
