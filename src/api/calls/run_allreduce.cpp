#include "api/calls/run_allreduce.hpp"

#include <vector>

#include "api/calls/blocking.hpp"
#include "api/calls/device_allreduce.hpp"
#include "api/calls/reduction.hpp"
#include "api/observe/measured_error.hpp"

namespace gradcoll {
namespace {

/// A copy in host memory of a vector that is there or on the device.
Result<std::vector<std::byte>> host_copy(DeviceSide* side, const void* from,
                                         std::size_t size_bytes) {
    const auto* const bytes = static_cast<const std::byte*>(from);
    if (side == nullptr) return std::vector<std::byte>(bytes, bytes + size_bytes);
    std::vector<std::byte> copy(size_bytes);
    GRADCOLL_TRY(copy_from_device(*side, copy.data(), from, size_bytes));
    return copy;
}

Status run_on_tree(CommContext& context, const ReduceArguments& arguments, const CallShape& shape,
                   const CallKey& key, const BlockingExtras& extras) {
    const Binding binding = binding_of(arguments, shape);
    if (!key.compress || key.feedback || !context.measures_this_call())
        return run_blocking(context, CallKind::allreduce, key, binding, extras);
    DeviceSide* const side = extras.device.get();
    const auto input = host_copy(side, binding.input, shape.size_bytes());
    if (!input) return input.status();
    GRADCOLL_TRY(run_blocking(context, CallKind::allreduce, key, binding, extras));
    const auto result = host_copy(side, binding.output, shape.size_bytes());
    if (!result) return result.status();
    return measure_error(context, arguments, shape, input->data(), result->data());
}

Status run_in_one_memory(CommContext& context, const ReduceArguments& arguments,
                         const CallShape& shape, const Route& route, const BlockingExtras& extras) {
    if (!route.on_host) return run_on_tree(context, arguments, shape, route.key, extras);
    if (extras.device != nullptr)
        return run_on_host_from_device(context, arguments, shape, *extras.device);
    return context.run_on_host(binding_of(arguments, shape), shape);
}

}  // namespace

Status run_allreduce(CommContext& context, const ReduceArguments& arguments, const CallShape& shape,
                     const Route& route, Residual* residual) {
    const auto placed = place_call(context, arguments, shape);
    if (!placed) return placed.status();
    Route settled = route;
    settled.key.in_place = is_in_place(placed->arguments);
    return run_in_one_memory(context, placed->arguments, shape, settled,
                             {residual, placed->device});
}

}  // namespace gradcoll
