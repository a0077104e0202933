#include "api/route.hpp"

namespace gradcoll {

Route route_of(const Settings& settings, const CallShape& shape, const RouteQuestion& question) {
    const bool may_be_lossy = question.sums && shape.size_bytes() >= settings.min_bytes;
    const bool compress = may_be_lossy && settings.compresses(shape.type, question.step);

    Route route;
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
