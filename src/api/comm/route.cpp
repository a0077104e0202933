#include "api/comm/route.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace gradcoll {
namespace {

/// Why a call is not compressed; both texts null: it is.
struct ExactReason {
    const char* text = nullptr;
    /// The same for a call that passes to the MPI library because it is short, too; null: that it
    /// is short says enough.
    const char* if_short = nullptr;
};

ExactReason reason_but_for_the_calls(const Settings& settings, const CallShape& shape,
                                     const RouteQuestion& question) {
    // Every codec is defined for fp32.
    if (!settings.compresses(ElementType::f32, question.step))
        return {"no lossy codec is set", nullptr};
    if (question.always_exact) return {"this kind of call is never compressed", nullptr};
    if (!question.sums) return {"only MPI_SUM is ever compressed", nullptr};
    if (!settings.compresses(shape.type, question.step))
        return {"the codec is not defined for the datatype", nullptr};
    if (shape.size_bytes() < settings.min_bytes)
        return {"vector is shorter than gc_min_bytes", nullptr};
    if (settings.max_bytes && shape.size_bytes() > *settings.max_bytes)
        return {"vector is longer than gc_max_bytes",
                "vector is longer than gc_max_bytes, and exact ones shorter than "
                "gc_tree_min_bytes pass"};
    if (!question.comm_may_be_lossy)
        return {"GC_COMPRESS_COMMS leaves the communicator exact",
                "GC_COMPRESS_COMMS leaves the communicator exact, and exact vectors shorter than "
                "gc_tree_min_bytes pass"};
    return {};
}

ExactReason exact_reason(const Settings& settings, const CallShape& shape,
                         const RouteQuestion& question) {
    const ExactReason reason = reason_but_for_the_calls(settings, shape, question);
    if (reason.text != nullptr || settings.compress_calls.allows(question.call)) return reason;
    return {"gc_compress_calls leaves the call exact",
            "gc_compress_calls leaves the call exact, and exact vectors shorter than "
            "gc_tree_min_bytes pass"};
}

}  // namespace

bool leave_host_way(const SettingsText& text, const Settings& settings) {
    constexpr std::string_view discovered[] = {"auto", "discover", "hwloc"};
    const std::string_view topology = trimmed(text[OptionId::topology]);
    const bool is_discovered =
        topology.empty() ||
        std::find(std::begin(discovered), std::end(discovered), topology) != std::end(discovered);
    const bool chose_exchange =
        std::any_of(settings.exchange.begin(), settings.exchange.end(),
                    [](ExchangeWish wish) { return wish != ExchangeWish::automatic; });
    return settings.shm_bytes > 0 && is_discovered && !chose_exchange && !settings.chunk_bytes;
}

bool is_compressible(const Settings& settings, const CallShape& shape,
                     const RouteQuestion& question) {
    return reason_but_for_the_calls(settings, shape, question).text == nullptr;
}

Route route_of(const Settings& settings, const CallShape& shape, const RouteQuestion& question) {
    const ExactReason exact = exact_reason(settings, shape, question);
    const bool compress = exact.text == nullptr;

    Route route;
    route.exact_reason = exact.text;
    route.key.collective = question.collective;
    route.key.type = shape.type;
    route.key.elem_bytes = static_cast<std::uint32_t>(shape.elem_bytes);
    route.key.count = shape.count;
    route.key.in_place = question.in_place;
    route.key.feedback = question.feedback;
    route.key.compress = compress;
    if (compress && !settings.schedule.empty())
        route.key.phase = settings.schedule.codec_at(question.step);
    route.on_host = !compress && !question.feedback && question.has_host_way;
    if (!compress && !question.feedback && !route.on_host &&
        shape.size_bytes() < settings.tree_min_bytes)
        route.pass_reason =
            exact.if_short != nullptr ? exact.if_short : "vector is shorter than gc_tree_min_bytes";
    return route;
}

}  // namespace gradcoll
