#include "api/calls/blocking.hpp"

#include <memory>
#include <new>
#include <vector>

#include "api/calls/device_allreduce.hpp"
#include "api/calls/gapped_allreduce.hpp"
#include "api/calls/tolerance.hpp"

namespace gradcoll {
namespace {

Status add_residual(Binding& binding, const PlannedCall& call, const BlockingExtras& extras) {
    if (extras.residual == nullptr) return {};
    GRADCOLL_TRY(extras.residual->check_fits(call));
    return take(binding.residual, extras.residual->data_for(extras.device));
}

}  // namespace

Status run_blocking(CommContext& context, CallKind kind, const CallKey& key, Binding binding,
                    const BlockingExtras& extras) {
    auto lease = context.plans().begin(kind, key, {.waited = true, .data_device = extras.device});
    if (!lease) return lease.status();
    const Status fits = add_residual(binding, *lease->call, extras);
    binding.refusal = fits.ok() ? extras.refusal : &fits;
    return context.plans().run(std::move(lease).value(), binding);
}

namespace {

/// A copy in host memory of a vector that is there or on the device.
Result<std::vector<std::byte>> host_copy(DeviceSide* side, const void* from,
                                         std::size_t size_bytes) {
    const auto* const bytes = static_cast<const std::byte*>(from);
    if (side == nullptr) return std::vector<std::byte>(bytes, bytes + size_bytes);
    std::vector<std::byte> copy(size_bytes);
    GRADCOLL_TRY(copy_and_finish(*side, copy.data(), from, size_bytes));
    return copy;
}

/// Of a refused call: nobody reads what is in the vector.
Status refuse_in_memory(CommContext& context, const CallArguments& arguments,
                        const CallShape& shape, const KeptTolerance& kept, const Status& why) {
    if (kept.route.agents)
        return context.agent_sums().allreduce(context.tree(), arguments, shape, kept.route.key,
                                              &why);
    if (kept.route.hosts)
        return context.several_hosts().allreduce(arguments, shape, kept.route.key,
                                                 kept.for_encodings, &why);
    context.one_host().refuse(Collective::allreduce, shape, why.code());
    return why;
}

/// Through the memory of one host or of several, or of agents: of the host, or by a copy there.
Status run_in_memory(CommContext& context, const CallArguments& arguments, const CallShape& shape,
                     const KeptTolerance& kept, const BlockingExtras& extras) {
    if (extras.refusal != nullptr)
        return refuse_in_memory(context, arguments, shape, kept, *extras.refusal);
    DeviceSide* const device = extras.device.get();
    const auto run = [&](const CallArguments& there) {
        if (kept.route.agents)
            return context.agent_sums().allreduce(context.tree(), there, shape, kept.route.key);
        return kept.route.hosts ? context.several_hosts().allreduce(there, shape, kept.route.key,
                                                                    kept.for_encodings)
                                : context.one_host().allreduce(binding_of(there, shape), shape);
    };
    return device != nullptr ? run_on_copy(arguments, shape, *device, run) : run(arguments);
}

/// By the MPI library, as a call that passes.
Status run_by_mpi(CommContext& context, const CallArguments& arguments, const CallShape& shape,
                  PassReason reason) {
    context.statistics().count_passed(CallKind::allreduce, shape.size_bytes(), reason);
    return pass_allreduce(arguments).as_status("MPI_Allreduce");
}

Status run_routed(CommContext& context, const CallArguments& arguments, const CallShape& shape,
                  const KeptTolerance& kept, const BlockingExtras& extras) {
    const Route& route = kept.route;
    if (extras.refusal != nullptr && (route.passes() || route.tries_mpi)) return *extras.refusal;
    if (route.passes()) return run_by_mpi(context, arguments, shape, route.pass_reason);
    if (route.one_host || route.agents)
        return run_in_memory(context, arguments, shape, kept, extras);
    if (route.tries_mpi)
        return run_timed(
            context, shape, route.key,
            [&] { return run_by_mpi(context, arguments, shape, PassReason::being_tried); },
            TriedWay::mpi);
    return run_timed(context, shape, route.key, [&] {
        if (route.hosts) return run_in_memory(context, arguments, shape, kept, extras);
        Binding binding = binding_of(arguments, shape);
        binding.tolerance = kept.for_encodings;
        return run_blocking(context, CallKind::allreduce, route.key, binding, extras);
    });
}

/// Also measures the error of a compressed call, if it is its turn.
Status run_measured(CommContext& context, const CallArguments& arguments, const CallShape& shape,
                    const KeptTolerance& kept, const BlockingExtras& extras) {
    const Route& route = kept.route;
    if (!route.key.compress || route.key.feedback || !context.error_sampling().takes_next())
        return run_routed(context, arguments, shape, kept, extras);
    const Binding binding = binding_of(arguments, shape);
    DeviceSide* const side = extras.device.get();
    const auto input = host_copy(side, binding.input, shape.size_bytes());
    if (!input) return input.status();
    GRADCOLL_TRY(run_routed(context, arguments, shape, kept, extras));
    const auto result = host_copy(side, binding.output, shape.size_bytes());
    if (!result) return result.status();
    return measure_error(context.identity().private_comm(), shape, kept.promised, input->data(),
                         result->data());
}

}  // namespace

Status run_allreduce(const Call& call) {
    CommContext& context = *call.context;
    if (call.alone)
        return reduce_alone(context, call.entry->kind, call.arguments, call.shape, call.memory);
    if (call.shape.has_gaps) return run_gapped(call);
    const auto placed = place_call(context, call.arguments, call.shape, call.memory);
    if (!placed) {
        refuse_allreduce(call, placed.status());
        return placed.status();
    }
    Route settled = call.route;
    settled.key.in_place = is_in_place(placed->arguments);
    const auto kept =
        keep_tolerance(context, placed->arguments, call.shape, settled, placed->device == nullptr);
    if (!kept) return kept.status();
    Residual* const residual =
        call.entry->with_residual ? call.entry->residual->residual.get() : nullptr;
    return run_measured(context, placed->arguments, call.shape, *kept, {residual, placed->device});
}

void refuse_allreduce(const Call& call, const Status& why) {
    const std::unique_ptr<std::byte[]> room(new (std::nothrow) std::byte[call.shape.size_bytes()]);
    if (room == nullptr) return;
    CallArguments arguments = call.arguments;
    arguments.sendbuf = MPI_IN_PLACE;
    arguments.recvbuf = room.get();
    Route settled = call.route;
    settled.key.in_place = true;
    const auto kept =
        keep_tolerance(*call.context, arguments, call.shape, settled, /*on_host=*/false);
    if (kept) (void)run_measured(*call.context, arguments, call.shape, *kept, {.refusal = &why});
}

}  // namespace gradcoll
