#include "ways/route.hpp"

namespace gradcoll {
namespace {

ExactReason reason_but_for_the_calls(const Settings& settings, const CallShape& shape,
                                     const RouteQuestion& question) {
    // Every codec is defined for fp32.
    if (!settings.compresses(ElementType::f32, question.step))
        return settings.loss_in_doubt ? ExactReason::loss_in_doubt : ExactReason::no_lossy_codec;
    if (question.always_exact) return ExactReason::never_compressed;
    const bool may_look = !question.feedback && !gathers(question.kind);
    if (settings.tolerance && !may_look) return ExactReason::tolerance_needs_a_look;
    if (!question.sums) return ExactReason::not_a_sum;
    if (!settings.compresses(shape.type, question.step)) return ExactReason::codec_not_defined;
    if (shape.size_bytes() < settings.min_bytes) return ExactReason::below_min_bytes;
    if (settings.max_bytes && shape.size_bytes() > *settings.max_bytes)
        return ExactReason::above_max_bytes;
    return question.comm_may_be_lossy ? ExactReason::none : ExactReason::comm_left_out;
}

ExactReason exact_reason(const Settings& settings, const CallShape& shape,
                         const RouteQuestion& question) {
    const ExactReason reason = reason_but_for_the_calls(settings, shape, question);
    if (reason != ExactReason::none) return reason;
    if (!settings.compress_calls.allows(question.call)) return ExactReason::call_left_out;
    return question.left_out;
}

/// Returns why an exact vector that is too short for the tree passes.
PassReason reason_if_short(ExactReason exact) {
    switch (exact) {
        case ExactReason::above_max_bytes:
            return PassReason::short_beyond_max_bytes;
        case ExactReason::comm_left_out:
            return PassReason::short_in_exact_comm;
        case ExactReason::call_left_out:
            return PassReason::short_in_exact_call;
        case ExactReason::does_not_pay:
        case ExactReason::tolerance_too_small:
        case ExactReason::blocks_too_short:
            return PassReason::short_without_codec;
        default:
            return PassReason::short_vector;
    }
}

/// Returns whether an exact call may be packed without loss: floats that are added up by whoever
/// unpacks them, or not at all. Devices have no kernels for it, and where they are,
/// gc_compress_if is never `pays`.
bool may_be_zipped(const Settings& settings, const CallShape& shape,
                   const RouteQuestion& question) {
    return question.may_zip && settings.compress_if == CompressIf::pays && question.sums &&
           !question.feedback && is_floating(shape.type);
}

}  // namespace

bool is_compressible(const Settings& settings, const CallShape& shape,
                     const RouteQuestion& question) {
    return reason_but_for_the_calls(settings, shape, question) == ExactReason::none;
}

std::optional<std::int64_t> first_compressible_step(const Settings& settings,
                                                    const CallShape& shape,
                                                    RouteQuestion question) {
    if (settings.schedule.empty() && is_compressible(settings, shape, question))
        return question.step;
    for (const CodecSchedule::Phase& phase : settings.schedule.phases()) {
        question.step = phase.first_step;
        if (is_compressible(settings, shape, question)) return question.step;
    }
    return {};
}

Route route_of(const Settings& settings, const CallShape& shape, const RouteQuestion& question) {
    const ExactReason exact = exact_reason(settings, shape, question);
    const bool compress = exact == ExactReason::none;

    Route route;
    route.question = question;
    route.exact_reason = exact;
    route.key.collective = collective_of(question.kind);
    route.key.type = shape.type;
    route.key.elem_bytes = static_cast<std::uint32_t>(shape.elem_bytes);
    route.key.count = shape.count;
    route.key.in_place = question.in_place;
    route.key.feedback = question.feedback;
    route.key.compress = compress;
    if (!compress && may_be_zipped(settings, shape, question)) route.key.zips = Zips::slow_links;
    if (compress && !settings.schedule.empty())
        route.key.phase = settings.schedule.codec_at(question.step);
    if (question.feedback) return route;
    if (const WayInfo* const offered = question.offers.first(compress); offered != nullptr) {
        route.way = offered;
        return route;
    }
    if (compress) return route;
    if (shape.by_mpi())
        route.pass_reason = shape.mpi_reason;
    else if (shape.size_bytes() < settings.tree_min_bytes)
        route.pass_reason = reason_if_short(exact);
    if (route.passes()) route.way = &mpi_way();
    return route;
}

Route exact_route(const Settings& settings, const CallShape& shape, const Route& route,
                  ExactReason reason) {
    RouteQuestion question = route.question;
    question.left_out = reason;
    return route_of(settings, shape, question);
}

}  // namespace gradcoll
