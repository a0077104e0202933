#include "call/blocking.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <new>

#include "call/anywhere/integer_reduction.hpp"
#include "call/device_allreduce.hpp"
#include "call/host_buffer.hpp"
#include "call/nonblocking_call.hpp"
#include "call/tolerance/tolerance.hpp"
#include "call/tolerance/wide_sum.hpp"

namespace gradcoll {
namespace {

/// Runs the call through the memory of one host, with copies of buffers that are not plain.
Status run_on_one_host(const Call& call, const CallArguments& arguments, const CallShape& shape) {
    OneHost& host = call.context->one_host();
    const CallKind kind = call.entry->kind;
    CallBuffers buffers(*call.context, kind, arguments);
    if (const Status filled = buffers.fill(); !filled.ok()) {
        host.refuse(kind, shape, filled.code());
        return filled;
    }
    GRADCOLL_TRY(host.run(kind, binding_of(buffers.arguments(), shape), shape, arguments.root));
    return buffers.drain();
}

/// Lets the MPI library run a call that is exact and too short for the tree, as the ranks found out
/// together.
Status reduce_scatter_by_mpi(const Call& call, const CallArguments& arguments,
                             const CallShape& shape, PassReason reason) {
    call.context->statistics().count_passed(call.entry->kind, shape.size_bytes(), reason);
    return pass_reduce_scatter(arguments).as_status("MPI_Reduce_scatter_block");
}

/// Runs the call over the tree. The communicator learns from it as from an allreduce of half the
/// vector, which moves as many bytes.
Status run_over_tree(const Call& call, const CallKey& key, const Binding& binding,
                     const Status* refusal = nullptr) {
    CommContext& context = *call.context;
    Residual* const residual = refusal == nullptr ? call.entry->residual_values() : nullptr;
    const LongCall timed{.vector_bytes = call.shape.size_bytes() / 2, .ends_apart = true};
    return run_timed(context, tree_way(), key, timed, [&] {
        return run_blocking(context.plans(), call.entry->kind, key, binding,
                            {.residual = residual, .refusal = refusal});
    });
}

Status reduce_scatter_along(const Call& call, const CallArguments& arguments,
                            const CallShape& shape, const KeptTolerance& kept) {
    const Route& route = kept.route;
    if (route.passes()) return reduce_scatter_by_mpi(call, arguments, shape, route.pass_reason);
    if (route.goes(one_host_way())) return run_on_one_host(call, arguments, shape);
    Binding binding = binding_of(arguments, shape);
    binding.tolerance = kept.for_encodings();
    return run_over_tree(call, route.key, binding);
}

/// Runs the call so that it keeps its tolerance. `arguments` are those of the call, or name copies
/// in host memory. A rank gets one block of the result.
Status reduce_scatter_kept(const Call& call, const CallArguments& arguments) {
    const auto kept = keep_tolerance(*call.context, arguments, call.shape, call.route, true);
    if (!kept) return kept.status();
    const Binding binding = binding_of(arguments, call.shape);
    const MPI_Count block_elems = call.shape.count / call.context->identity().rank_count();
    const auto run = [&](void* wide, const CallShape& added, const KeptTolerance& how) {
        const CallArguments there = arguments_in(wide, arguments, added.type, block_elems);
        return reduce_scatter_along(call, there, added, how);
    };
    return run_kept(*call.context, call.shape, *kept,
                    {.input = binding.input,
                     .output = binding.output,
                     .output_elems = static_cast<std::size_t>(block_elems),
                     .is_alike = false},
                    std::cref(run));
}

/// Reduces all blocks on all ranks, so that the blocks of the grid are those of the whole vector
/// (gc_reproducible=anywhere).
Status reduce_scatter_anywhere(const Call& call, const CallArguments& arguments) {
    const std::size_t bytes = call.shape.size_bytes();
    const std::unique_ptr<std::byte[]> whole(new (std::nothrow) std::byte[bytes]);
    if (whole == nullptr) {
        const Status refusal(Code::out_of_memory, "no memory for the vector of all blocks");
        refuse_call(call, refusal);
        return refusal;
    }
    const Binding binding = binding_of(arguments, call.shape);
    std::memcpy(whole.get(), binding.input, bytes);
    CallArguments there = arguments;
    there.sendbuf = MPI_IN_PLACE;
    there.recvbuf = whole.get();
    GRADCOLL_TRY(reduce_anywhere(call, there));
    const CommIdentity& comm = call.context->identity();
    const std::size_t block_bytes = bytes / static_cast<std::size_t>(comm.rank_count());
    std::memcpy(binding.output, whole.get() + block_bytes * static_cast<std::size_t>(comm.rank()),
                block_bytes);
    return {};
}

/// Runs the call on buffers in host memory, which `arguments` name.
Status reduce_scatter_on_host(const Call& call, const CallArguments& arguments) {
    if (is_same_anywhere(call.context->settings().current(), call.shape))
        return reduce_scatter_anywhere(call, arguments);
    return keeps_tolerance(call.context->settings().current(), call.shape)
               ? reduce_scatter_kept(call, arguments)
               : reduce_scatter_along(call, arguments, call.shape, {call.route});
}

/// Runs the call on copies of its buffers in host memory. Only this rank knows of it.
Status reduce_scatter_on_copies(const Call& call) {
    CallBuffers buffers(*call.context, call.entry->kind, call.arguments);
    if (const Status filled = buffers.fill(); !filled.ok()) {
        refuse_call(call, filled);
        return filled;
    }
    GRADCOLL_TRY(reduce_scatter_on_host(call, buffers.arguments()));
    return buffers.drain();
}

/// Takes part in the call as a rank that refuses, in place and in memory that nobody reads.
void refuse_blocks(const Call& call, const Status& why) {
    const bool reduces = has(call.entry->kind, CallTrait::reduces);
    if (reduces && is_same_anywhere(call.context->settings().current(), call.shape))
        return refuse_allreduce(call, why);
    const std::unique_ptr<std::byte[]> room(new (std::nothrow) std::byte[call.shape.size_bytes()]);
    if (room == nullptr) return;
    CallArguments arguments = call.arguments;
    arguments.sendbuf = MPI_IN_PLACE;
    arguments.recvbuf = room.get();
    Route route = call.route;
    route.key.in_place = true;
    Binding binding = binding_of(arguments, call.shape);
    if (reduces) {
        const auto kept =
            keep_tolerance(*call.context, arguments, call.shape, route, /*on_host=*/false);
        if (!kept || kept->route.passes()) return;
        route = kept->route;
        binding.tolerance = kept->for_encodings();
    }
    if (route.goes(one_host_way()))
        call.context->one_host().refuse(call.entry->kind, call.shape, why.code());
    else
        (void)run_over_tree(call, route.key, binding, &why);
}

Status run_reduce_scatter(const Call& call) {
    const bool anywhere = is_same_anywhere(call.context->settings().current(), call.shape);
    if (call.alone && !anywhere)
        return reduce_alone(*call.context, call.entry->kind, call.arguments, call.shape,
                            call.memory);
    return call.memory.any_device() ? reduce_scatter_on_copies(call)
                                    : reduce_scatter_on_host(call, call.arguments);
}

Status run_allgather(const Call& call) {
    if (call.route.goes(one_host_way())) return run_on_one_host(call, call.arguments, call.shape);
    CallBuffers buffers(*call.context, call.entry->kind, call.arguments);
    if (const Status packed = buffers.fill(); !packed.ok()) {
        refuse_call(call, packed);
        return packed;
    }
    GRADCOLL_TRY(run_over_tree(call, call.route.key, binding_of(buffers.arguments(), call.shape)));
    return buffers.drain();
}

}  // namespace

void refuse_call(const Call& call, const Status& why) {
    const CallKind kind = call.entry->kind;
    if (call.entry->sets_up())
        (void)agree_on_arguments(call, why);
    else if (has(kind, CallTrait::only_one_host))
        call.context->one_host().refuse(kind, call.shape, why.code());
    else if (has(kind, CallTrait::in_blocks))
        refuse_blocks(call, why);
    else if (call.entry->may_wait())
        (void)run_agreed(*call.context, [&] {
            refuse_allreduce(call, why);
            return why;
        });
    else
        refuse_nonblocking(call, why);
}

Status run_call(const Call& call) {
    const CallKind kind = call.entry->kind;
    if (has(kind, CallTrait::only_one_host))
        return run_on_one_host(call, call.arguments, call.shape);
    if (!has(kind, CallTrait::in_blocks)) return run_allreduce(call);
    return gathers(kind) ? run_allgather(call) : run_reduce_scatter(call);
}

}  // namespace gradcoll
