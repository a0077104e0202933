#include "call/blocking.hpp"

#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "call/anywhere/grid_pieces.hpp"
#include "call/anywhere/integer_reduction.hpp"
#include "call/call_kinds.hpp"
#include "call/device_allreduce.hpp"
#include "call/tolerance/tolerance.hpp"
#include "call/tolerance/wide_sum.hpp"

namespace gradcoll {
namespace {

/// Returns a copy in host memory of a vector that is there or on the device.
Result<std::vector<std::byte>> host_copy(DeviceSide* side, const void* from,
                                         std::size_t size_bytes) {
    const auto* const bytes = static_cast<const std::byte*>(from);
    if (side == nullptr) return std::vector<std::byte>(bytes, bytes + size_bytes);
    std::vector<std::byte> copy(size_bytes);
    GRADCOLL_TRY(copy_and_finish(*side, copy.data(), from, size_bytes));
    return copy;
}

/// Runs the call on the way of its route. A vector on a device is copied to host memory if the way
/// does not take it from there.
Status run_on_way(CommContext& context, const CallArguments& arguments, const CallShape& shape,
                  const KeptTolerance& kept, const BlockingExtras& extras) {
    const Route& route = kept.route;
    Way& way = context.way(*route.way);
    WayCall call{.arguments = arguments,
                 .shape = shape,
                 .key = route.key,
                 .tolerance = kept.for_encodings(),
                 .refusal = extras.refusal,
                 .asked = extras.device != nullptr,
                 .pass_reason = route.tries_mpi() ? PassReason::being_tried : route.pass_reason,
                 .residual = extras.residual,
                 .maker = extras.maker,
                 .device = extras.device};
    if (extras.device == nullptr || extras.refusal != nullptr || way.reads_devices())
        return way.run(call);
    call.device = nullptr;
    return run_on_copy(
        arguments, shape, *extras.device,
        [&](const CallArguments& there) {
            return way.run({.arguments = there,
                            .shape = shape,
                            .key = route.key,
                            .tolerance = call.tolerance,
                            .asked = true});
        },
        [&](const Status& why) {
            call.refusal = &why;
            (void)way.run(call);
        });
}

/// Times the call, too, unless it passes.
Status run_routed(CommContext& context, const CallArguments& arguments, const CallShape& shape,
                  const KeptTolerance& kept, const BlockingExtras& extras) {
    const Route& route = kept.route;
    const auto run = [&] { return run_on_way(context, arguments, shape, kept, extras); };
    return route.passes() ? run() : run_timed(context, *route.way, shape, route.key, run);
}

/// Runs the call so that it keeps its tolerance; a rank that refuses takes no part in that. Hands
/// the work on by reference, which needs no allocation.
Status run_settled(CommContext& context, const CallArguments& arguments, const CallShape& shape,
                   const KeptTolerance& kept, const BlockingExtras& extras) {
    const Binding binding = binding_of(arguments, shape);
    const SumBuffers buffers{binding.input, binding.output, static_cast<std::size_t>(shape.count)};
    const auto run = [&](void* wide, const CallShape& added, const KeptTolerance& how) {
        const CallArguments there = arguments_in(wide, arguments, added.type, added.count);
        return run_routed(context, there, added, how, extras);
    };
    return run_kept(context, shape, kept, buffers, std::cref(run));
}

/// Runs the call, and measures the error of a compressed one if it is its turn.
Status run_measured(CommContext& context, const CallArguments& arguments, const CallShape& shape,
                    const KeptTolerance& kept, const BlockingExtras& extras) {
    const Route& route = kept.route;
    if (!route.key.compress || route.key.feedback || !context.error_sampling().takes_next())
        return run_settled(context, arguments, shape, kept, extras);
    const Binding binding = binding_of(arguments, shape);
    DeviceSide* const side = extras.device.get();
    const auto input = host_copy(side, binding.input, shape.size_bytes());
    if (!input) return input.status();
    GRADCOLL_TRY(run_settled(context, arguments, shape, kept, extras));
    const auto result = host_copy(side, binding.output, shape.size_bytes());
    if (!result) return result.status();
    return measure_error(context.identity().private_comm(), shape, kept.budget.tolerance,
                         input->data(), result->data());
}

/// Goes through the call on a rank that refuses it; the buffers are room for what arrives.
void refuse_kept(const Call& call, KeptTolerance kept, const Status& why) {
    const std::unique_ptr<std::byte[]> room(new (std::nothrow) std::byte[call.shape.size_bytes()]);
    if (room == nullptr) return;
    CallArguments arguments = call.arguments;
    arguments.sendbuf = MPI_IN_PLACE;
    arguments.recvbuf = room.get();
    kept.route.key.in_place = true;
    (void)run_measured(*call.context, arguments, call.shape, kept, {.refusal = &why});
}

// ---- gc_reproducible=anywhere

/// Returns the exact allreduce of integers that stands for a step of the call, and how it goes.
Result<KeptTolerance> route_of_step(const Call& call, const CallArguments& step,
                                    const CallManner& manner, CallShape& shape) {
    CommContext& context = *call.context;
    shape = classify(step.count, step.datatype, step.op).shape;
    Route route = route_call(context, CallKind::allreduce, step, shape, manner);
    if (route.needs_tree()) GRADCOLL_TRY(context.prepare_tree());
    return KeptTolerance{route};
}

Status run_step(const Call& call, const IntegerStep& step, const BlockingExtras& extras) {
    const CallArguments in_place{MPI_IN_PLACE,  step.data, step.count,
                                 step.datatype, step.op,   call.arguments.comm};
    CallShape shape;
    const CallManner manner{.adds_words = step.adds_words};
    const KeptTolerance how = GRADCOLL_VALUE(route_of_step(call, in_place, manner, shape));
    BlockingExtras with = extras;
    if (how.route.goes(hosts_way()) && !how.route.passes())
        with.maker = step.maker;
    else
        GRADCOLL_TRY(fill(step));
    return run_routed(*call.context, in_place, shape, how, with);
}

/// Returns the shape of the call with a reducer that combines all contributions at once.
CallShape with_reducer(CallShape shape, const Reducer& reducer) {
    shape.reducer = reducer;
    return shape;
}

/// Returns whether the call is a sum that goes over the tree in pieces.
bool is_summed_in_pieces(const Call& call) {
    return !call.alone && call.shape.op == ReduceOp::sum && call.route.goes(tree_way()) &&
           !call.route.passes() && goes_in_pieces(call.shape);
}

Status sum_over_tree(const Call& call, const Binding& binding) {
    GRADCOLL_TRY(call.context->prepare_tree());
    CommContext& context = *call.context;
    return run_timed(context, tree_way(), call.shape, call.route.key,
                     [&] { return sum_in_pieces(context, call.shape, binding); });
}

/// Tells the other ranks of such a reduction, in its first step, or in all its pieces.
void refuse_anywhere(const Call& call, const Status& why) {
    if (is_summed_in_pieces(call)) {
        Binding binding;
        binding.refusal = &why;
        (void)sum_over_tree(call, binding);
        return;
    }
    if (const Reducer reducer = reducer_at_once(*call.context, call.route, call.shape)) {
        const std::unique_ptr<std::byte[]> room(new (std::nothrow)
                                                    std::byte[call.shape.size_bytes()]);
        CallArguments arguments = call.arguments;
        arguments.sendbuf = MPI_IN_PLACE;
        arguments.recvbuf = room.get();
        if (room != nullptr)
            (void)run_routed(*call.context, arguments, with_reducer(call.shape, reducer),
                             {call.route}, {.refusal = &why});
        return;
    }
    refuse_in_integers(call.shape, [&](const IntegerStep& step) {
        return run_step(call, step, {.refusal = &why});
    });
}

/// Returns whether all ranks of a call over the tree ask each other where their vectors are.
bool all_ask_where(CommContext& context, const Route& route) {
    return route.needs_tree() && !route.key.feedback && context.one_host().is_open();
}

/// Finds out whether vectors are on devices and stay there, and settles the route accordingly. Only
/// ranks that share memory ask each other: all ranks of a call over the tree do, and of a call
/// through that memory those whose vector is on a device.
Status settle_place(CommContext& context, const CallShape& shape, bool on_device, Route& route) {
    const bool in_memory = route.goes(one_host_way());
    if (in_memory ? !on_device : !all_ask_where(context, route)) return {};
    GRADCOLL_TRY(take(route.key.on_devices, stays_on_devices(context, shape, on_device)));
    if (route.key.on_devices && in_memory) route.way = &tree_way();
    return {};
}

/// Returns whether a vector on a device is copied to host memory. Short ones that go over the tree
/// are; the other ranks see no difference.
bool goes_by_copy(const CommContext& context, const CallShape& shape, const Route& route) {
    return route.needs_tree() && shape.size_bytes() < context.least_device_bytes();
}

}  // namespace

namespace {

/// Runs the call on a vector in host memory, or on `device`.
Status run_placed(const Call& call, const CallArguments& arguments,
                  const std::shared_ptr<DeviceSide>& device) {
    CommContext& context = *call.context;
    const CallShape& shape = call.shape;
    Route settled = call.route;
    settled.key.in_place = is_in_place(arguments);
    auto kept = keep_tolerance(context, arguments, shape, settled, device == nullptr);
    if (!kept) return kept.status();
    GRADCOLL_TRY(settle_place(context, shape, device != nullptr, kept->route));
    Residual* const residual = call.entry->residual_values();
    if (device == nullptr || !goes_by_copy(context, shape, kept->route))
        return run_measured(context, arguments, shape, *kept, {residual, device});
    kept->route.key.in_place = true;
    return run_on_copy(
        arguments, shape, *device,
        [&](const CallArguments& there) {
            return run_measured(context, there, shape, *kept, {residual, nullptr});
        },
        [&](const Status& why) { refuse_kept(call, *kept, why); });
}

/// If a tolerance is kept, the host looks at inputs and results, so it gets a copy of what is on a
/// device; also of memory that only the MPI library reaches.
Status run_unsettled(const Call& call) {
    CommContext& context = *call.context;
    const CallShape& shape = call.shape;
    const bool anywhere = is_same_anywhere(context.settings().current(), shape);
    if (call.alone && !anywhere)
        return reduce_alone(context, call.entry->counted_as, call.arguments, shape, call.memory);
    if (shape.is_packed) return run_packed(call);
    const auto placed = place_call(context, call.arguments, shape, call.memory);
    if (!placed) {
        refuse_allreduce(call, placed.status());
        return placed.status();
    }
    if (anywhere && placed->device == nullptr) return reduce_anywhere(call, placed->arguments);
    const bool on_host =
        anywhere || call.memory.any_unserved() ||
        (keeps_tolerance(context.settings().current(), shape) && !call.entry->with_residual);
    if (placed->device == nullptr || !on_host)
        return run_placed(call, placed->arguments, placed->device);
    return run_on_copy(
        placed->arguments, shape, *placed->device,
        [&](const CallArguments& there) {
            return anywhere ? reduce_anywhere(call, there) : run_placed(call, there, nullptr);
        },
        [&](const Status& why) { refuse_allreduce(call, why); });
}

/// This is a function of its own, so that calls without verdicts have no frame for one: a thread
/// may have the smallest stack there is.
[[gnu::noinline]] Status run_settled(const Call& call) {
    return run_agreed(*call.context, [&] { return run_unsettled(call); });
}

}  // namespace

Status run_allreduce(const Call& call) {
    return call.context->verdicts() == nullptr ? run_unsettled(call) : run_settled(call);
}

Status reduce_anywhere(const Call& call, const CallArguments& arguments) {
    const Binding binding = binding_of(arguments, call.shape);
    if (const Reducer reducer = reducer_at_once(*call.context, call.route, call.shape))
        return run_routed(*call.context, arguments, with_reducer(call.shape, reducer), {call.route},
                          {});
    if (is_summed_in_pieces(call)) return sum_over_tree(call, binding);
    const CommIdentity& identity = call.context->identity();
    const bool checked = call.context->settings().current().check_sums && !call.alone;
    const Status status = reduce_in_integers(
        call.shape, binding, call.context->plans().scratch(),
        [&](const IntegerStep& step) { return call.alone ? fill(step) : run_step(call, step, {}); },
        {identity.rank(), checked ? identity.rank_count() : 0});
    if (status.code() == Code::out_of_memory) refuse_allreduce(call, status);
    return status;
}

void refuse_allreduce(const Call& call, const Status& why) {
    if (is_same_anywhere(call.context->settings().current(), call.shape))
        return refuse_anywhere(call, why);
    CallArguments arguments = call.arguments;
    arguments.sendbuf = MPI_IN_PLACE;
    Route settled = call.route;
    settled.key.in_place = true;
    auto kept = keep_tolerance(*call.context, arguments, call.shape, settled, /*on_host=*/false);
    if (!kept) return;
    const bool is_told = all_ask_where(*call.context, kept->route) &&
                         call.context->one_host().answers_with_refusal(call.shape, why.code());
    if (!is_told) refuse_kept(call, *kept, why);
}

}  // namespace gradcoll
