#include "ways/tree/call_decision.hpp"

#include <algorithm>
#include <utility>

#include "collectives/build/planner.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

CodecId supported(CodecId codec, ElementType type) {
    return codec_supports(codec, type) ? codec : CodecId::exact;
}

/// Between devices that read each other there is nothing to overlap with: chunks only bound the
/// scratch memory.
constexpr std::int64_t device_chunk_bytes = 64 << 20;

/// Returns the codecs of the settings, with exact in place of those that the element type cannot
/// have.
HopCodecs codecs_of(const Settings& settings, const CallKey& key) {
    if (key.words) return HopCodecs::by_link(CodecId::exact, CodecId::grid);
    const HopCodecs wished = settings.schedule.empty() ? settings.codecs() : HopCodecs{key.phase};
    return wished.replaced([&](CodecId codec) { return supported(codec, key.type); });
}

PolicyOptions options_of(const Settings& settings, const CallKey& key) {
    PolicyOptions options;
    options.feedback = key.feedback;
    options.compress_if = settings.compress_if;
    options.chunks_in_flight = settings.chunks_in_flight;
    options.tuning = settings.tuning.get();
    options.level_exchanges = settings.exchange;
    options.builder = settings.builder;
    // A residual's layout must not change with the codecs, and they weigh in on automatic
    // exchanges; those that are named stay.
    for (ExchangeWish& wish : options.level_exchanges)
        if (key.feedback) wish = wish.value_or(Exchange::direct);
    if (settings.chunk_bytes)
        options.chunk_bytes = static_cast<std::int64_t>(*settings.chunk_bytes);
    else if (key.on_devices)
        options.chunk_bytes = device_chunk_bytes;
    if (!key.compress) return options;
    options.codecs = codecs_of(settings, key);
    if (settings.down_codec) options.down_codec = supported(*settings.down_codec, key.type);
    return options;
}

/// Returns the same call with every codec exact and no residual, which the statistics compare with.
PlanSpec exact_twin_of(PlanSpec spec) {
    spec = without_codecs(std::move(spec));
    spec.feedback = false;
    return spec;
}

/// Returns the chunk size of the exact call. A residual goes with all codecs of a schedule, so its
/// layout must not change with them.
std::int64_t chunk_bytes_of_residual(const Tree& tree, const PlanSpec& call,
                                     const PolicyOptions& options) {
    return decide(tree, call, options.without_codecs()).spec.chunk_elems *
           static_cast<std::int64_t>(call.elem_bytes);
}

/// Packing shorter vectors saves less than a message more or less takes.
constexpr std::int64_t least_zipped_bytes = 64 << 10;

/// Links above the first rate keep a core busy with their messages alone, so that it packs at their
/// cost, which the model does not know: there it is tried before it is done. Above the second one
/// nothing is packed.
constexpr double most_gbytes_per_s(Zips zips) {
    return zips == Zips::slow_links ? 0.25 : zips == Zips::faster_links ? 2.5 : 0;
}

/// Returns the codecs of an exact call that may be packed: those of levels with such links between
/// hosts.
HopCodecs zips_of(const Tree& tree, const CallKey& key) {
    if (key.count * key.elem_bytes < least_zipped_bytes) return {};
    const auto is_slow = [&](int vertex) {
        const double rate = tree.vertex(vertex).uplink.bandwidth_gbytes_per_s;
        return rate > 0 && rate <= most_gbytes_per_s(key.zips);
    };
    HopCodecs codecs = HopCodecs::by_link(CodecId::exact, CodecId::zip);
    const auto inner = tree.inner_vertices();
    for (int level = 0; level < tree.height(); ++level) {
        const bool any_slow = std::any_of(inner.begin(), inner.end(), [&](int vertex) {
            const auto below = tree.children(vertex);
            return tree.vertex(vertex).height - 1 == level && connects_hosts(tree, vertex) &&
                   std::any_of(below.begin(), below.end(), is_slow);
        });
        if (!any_slow) codecs = codecs.exact_at(level);
    }
    return codecs;
}

}  // namespace

/// Decides as if the call were not in place, in which ranks may differ.
Decision decision_for(const Tree& tree, const Settings& settings, const CallKey& key) {
    PlanSpec call;
    call.collective = key.collective;
    call.count_elems = key.count;
    call.type = key.type;
    call.elem_bytes = key.elem_bytes;
    PolicyOptions options = options_of(settings, key);
    if (key.zips != Zips::nothing) options.codecs = zips_of(tree, key);
    if (key.feedback && !settings.schedule.empty() && !options.chunk_bytes)
        options.chunk_bytes = chunk_bytes_of_residual(tree, call, options);
    Decision decision = decide(tree, call, options);
    decision.spec.in_place = key.in_place;
    return decision;
}

Result<SendingCost> sending_cost_of(const Tree& tree, const Plan& plan) {
    SendingCost cost;
    cost.bytes = bytes_sent(plan);
    cost.exact_bytes = cost.bytes;
    cost.lossy = is_lossy(plan.spec);
    cost.depends_on_data = length_depends_on_data(plan.spec);
    for (std::int64_t chunk = 0; chunk < plan.chunk_count; ++chunk)
        cost.messages += plan.schedule_of(chunk).send_count;
    if (!cost.lossy && !plan.spec.feedback) return cost;
    const auto twin = make_plan(tree, exact_twin_of(plan.spec), plan.rank);
    if (!twin) return twin.status();
    cost.exact_bytes = bytes_sent(*twin);
    return cost;
}

}  // namespace gradcoll
