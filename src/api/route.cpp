#include "api/route.hpp"

namespace gradcoll {
namespace {

/// Null: the call is compressed.
const char* exact_reason(const Settings& settings, const CallShape& shape,
                         const RouteQuestion& question) {
    // Every codec is defined for fp32.
    if (!settings.compresses(ElementType::f32, question.step)) return "no lossy codec is set";
    if (!question.sums) return "only MPI_SUM is ever compressed";
    if (!settings.compresses(shape.type, question.step))
        return "the codec is not defined for the datatype";
    if (shape.size_bytes() < settings.min_bytes) return "vector is shorter than gc_min_bytes";
    return nullptr;
}

}  // namespace

Route route_of(const Settings& settings, const CallShape& shape, const RouteQuestion& question) {
    Route route;
    route.exact_reason = exact_reason(settings, shape, question);
    const bool compress = route.exact_reason == nullptr;
    route.key.collective = question.collective;
    route.key.type = shape.type;
    route.key.elem_bytes = static_cast<std::uint32_t>(shape.elem_bytes);
    route.key.count = shape.count;
    route.key.in_place = question.in_place;
    route.key.feedback = question.feedback;
    route.key.compress = compress;
    if (compress && !settings.schedule.empty())
        route.key.phase = settings.schedule.codec_at(question.step);
    if (!compress && !question.feedback && shape.size_bytes() < settings.tree_min_bytes)
        route.pass_reason = "vector is shorter than gc_tree_min_bytes";
    return route;
}

}  // namespace gradcoll
