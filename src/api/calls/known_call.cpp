#include "api/calls/known_call.hpp"

#include <limits>

#include "api/calls/blocking.hpp"
#include "api/comm/attachments.hpp"

namespace gradcoll {
namespace {

/// Vectors from here on may be compressed.
std::uint64_t least_lossy_bytes(const Settings& settings, const CallShape& shape) {
    const bool never = shape.op != ReduceOp::sum || !settings.ever_compresses(shape.type);
    return never ? std::numeric_limits<std::uint64_t>::max() : settings.min_bytes;
}

bool may_be_repeated(const Call& call) {
    const Entry& entry = *call.entry;
    return entry.collective == Collective::allreduce && entry.may_wait && !entry.persistent &&
           !entry.with_residual && !call.passes() && !call.alone && call.copy == nullptr &&
           call.shape.count > 0 && !call.memory.any_device() &&
           !call.context->settings().checks_calls();
}

std::uint64_t size_of(const KnownWay& way, const CallArguments& arguments) {
    return way.shape.elem_bytes * static_cast<std::uint64_t>(arguments.count);
}

Status run_on(CommContext& context, const KnownWay& way, const CallArguments& arguments) {
    CallShape shape = way.shape;
    shape.count = arguments.count;
    const Binding binding = binding_of(arguments, shape);
    if (way.one_host) return context.one_host().allreduce(binding, shape);
    CallKey key = way.key;
    key.count = shape.count;
    key.in_place = is_in_place(arguments);
    return run_blocking(context, CallKind::allreduce, key, binding);
}

}  // namespace

bool run_known(const Entry& entry, const CallArguments& arguments, Status& status) {
    CommContext* const context = context_seen(arguments.comm);
    if (context == nullptr || entry.with_residual) return false;
    const KnownWay* const way = context->known_ways().find(arguments);
    if (way == nullptr) return false;
    const CallTimer timer =
        entry.offered ? CallTimer() : context->statistics().timer_of(size_of(*way, arguments));
    status = run_on(*context, *way, arguments);
    return true;
}

void learn_way_of(const Call& call) {
    if (!may_be_repeated(call)) return;
    const Settings& settings = call.context->settings().current();
    KnownWay way;
    way.datatype = call.arguments.datatype;
    way.op = call.arguments.op;
    way.one_host = call.route.one_host;
    way.least_bytes = way.one_host ? 0 : settings.tree_min_bytes;
    way.end_bytes = least_lossy_bytes(settings, call.shape);
    way.shape = call.shape;
    way.key = call.route.key;
    if (call.shape.size_bytes() < way.end_bytes) call.context->known_ways().learn(way);
}

}  // namespace gradcoll
