// MPI_Reduce_scatter_block, MPI_Reduce_scatter with blocks of one size, and MPI_Allgather of
// unchanged programs.
#include <cstring>

#include "api/calls/blocking.hpp"
#include "api/calls/blocks.hpp"
#include "api/calls/reduction.hpp"
#include "api/interposed/entries.hpp"
#include "api/interposed/offer.hpp"
#include "api/interposed/offered_comm.hpp"

namespace gradcoll {
namespace {

Offer reduce_scatter_block(const OfferedCall& call, ReduceArguments arguments) {
    const int rank_count = rank_count_of(arguments.comm);
    if (rank_count == 0) return Offer::passed(PassReason::intercommunicator);
    if (arguments.recvbuf == MPI_IN_PLACE ||
        !check_reduce_scatter_but_overlap(arguments, rank_count).ok())
        return Offer::passed(PassReason::wrong_arguments);
    const Classified whole =
        classify(arguments.count * rank_count, arguments.datatype, arguments.op);
    if (whole.passes()) return Offer::passed(whole.pass_reason);
    const bool may_be_lossy =
        whole.shape.op == ReduceOp::sum && process_settings().ever_compresses(whole.shape.type);
    const OfferedComm found =
        comm_for_offer(arguments.comm, {whole.shape.size_bytes(), may_be_lossy, true});
    if (found.passes()) return Offer::passed(found.pass_reason);
    CommContext& context = *found.context;
    const BufferPair buffers = buffers_of_reduce_scatter(arguments, rank_count);
    const SettledInput input = is_in_place(arguments)
                                   ? SettledInput{PassReason::none, MPI_IN_PLACE, nullptr}
                                   : settle_input(buffers.send, buffers.receive, arguments.recvbuf);
    if (input.passes()) return Offer::passed(input.pass_reason);
    arguments.sendbuf = input.sendbuf;

    const Route route = route_reduce_scatter(context, whole.shape, is_in_place(arguments));
    if (route.passes()) return Offer::passed(route.pass_reason);
    const Status alike = check_alike(context, call.name, arguments);
    if (!alike.ok()) return Offer::served(alike);
    return Offer::served(
        run_blocking(context, call.kind, route.key, binding_of(arguments, whole.shape)));
}

MPI_Count count_at(const void* counts, std::size_t count_bytes, int index) {
    const char* at =
        static_cast<const char*>(counts) + count_bytes * static_cast<std::size_t>(index);
    if (count_bytes == sizeof(std::int32_t)) {
        std::int32_t count = 0;
        std::memcpy(&count, at, sizeof count);
        return count;
    }
    std::int64_t count = 0;
    std::memcpy(&count, at, sizeof count);
    return count;
}

/// Like reduce_scatter_block if all blocks have one size, which all ranks know alike.
Offer reduce_scatter(OfferedCall& call, const void* recvcounts, std::size_t count_bytes) {
    const int rank_count = rank_count_of(call.arguments.comm);
    if (rank_count == 0) return Offer::passed(PassReason::intercommunicator);
    if (recvcounts == nullptr) return Offer::passed(PassReason::wrong_arguments);
    const MPI_Count first = count_at(recvcounts, count_bytes, 0);
    bool all_alike = true;
    call.arguments.count = 0;
    for (int rank = 0; rank < rank_count; ++rank) {
        const MPI_Count count = count_at(recvcounts, count_bytes, rank);
        call.arguments.count += count;
        all_alike = all_alike && count == first;
    }
    if (!all_alike) return Offer::passed(PassReason::unequal_blocks);
    ReduceArguments block = call.arguments;
    block.count = first;
    return reduce_scatter_block(call, block);
}

/// What all ranks see of an allgather, and where this rank's blocks lie.
struct CheckedGather {
    PassReason pass_reason = PassReason::none;
    std::size_t block_bytes = 0;
    BufferPair buffers;

    bool passes() const { return pass_reason != PassReason::none; }
};

CheckedGather check_gather(const GatherArguments& arguments) {
    CheckedGather out;
    const int rank_count = rank_count_of(arguments.comm);
    if (rank_count == 0)
        out.pass_reason = PassReason::intercommunicator;
    else if (arguments.recvbuf == MPI_IN_PLACE || !check_gather_types(arguments).ok())
        out.pass_reason = PassReason::wrong_arguments;
    if (out.passes()) return out;
    const auto block_bytes = block_bytes_of(arguments);
    if (block_bytes) out.block_bytes = *block_bytes;
    out.buffers = buffers_of_gather(arguments, out.block_bytes, rank_count);
    if (!block_bytes || !check_buffer(out.buffers.receive).ok() ||
        !check_buffer(out.buffers.send).ok())
        out.pass_reason = PassReason::wrong_arguments;
    return out;
}

/// MPI has no question for it, but packing nothing is an error with a type that is not committed.
bool is_committed(MPI_Datatype datatype, MPI_Comm comm) {
    if (known_type(datatype)) return true;
    char nothing[1] = {};
    int position = 0;
    return PMPI_Pack(nothing, 0, datatype, nothing, 1, &position, comm) == MPI_SUCCESS;
}

/// Its copy, if it has one, must last as long as the call. Types with gaps are packed anyway.
SettledInput settle_gather(const GatherArguments& arguments, const CheckedGather& checked,
                           int rank) {
    SettledInput as_given;
    as_given.sendbuf = arguments.sendbuf;
    if (checked.buffers.send.size_bytes == 0) return as_given;
    const void* own_slot = static_cast<const std::byte*>(arguments.recvbuf) +
                           checked.block_bytes * static_cast<std::size_t>(rank);
    return settle_input(checked.buffers.send, checked.buffers.receive, own_slot);
}

/// Exact whatever the codec: only sums are ever compressed in programs that do not ask for it
/// themselves.
Offer allgather(const OfferedCall& call, GatherArguments arguments) {
    const CheckedGather checked = check_gather(arguments);
    if (checked.passes()) return Offer::passed(checked.pass_reason);
    const int rank_count = rank_count_of(arguments.comm);
    const std::uint64_t vector_bytes = checked.block_bytes * static_cast<std::uint64_t>(rank_count);
    const OfferedComm found =
        comm_for_offer(arguments.comm, {vector_bytes, /*may_be_lossy=*/false, true});
    if (found.passes()) return Offer::passed(found.pass_reason);
    CommContext& context = *found.context;
    if (!is_committed(arguments.recvtype, context.identity().private_comm()) ||
        (arguments.sendbuf != MPI_IN_PLACE &&
         !is_committed(arguments.sendtype, context.identity().private_comm())))
        return Offer::passed(PassReason::wrong_arguments);
    const SettledInput input = settle_gather(arguments, checked, context.identity().rank());
    if (input.passes()) return Offer::passed(input.pass_reason);
    arguments.sendbuf = input.sendbuf;

    const Route route =
        route_allgather(context, arguments, checked.block_bytes, /*always_exact=*/true);
    if (route.passes()) return Offer::passed(route.pass_reason);
    const Status alike = check_gather_alike(context, call.name, checked.block_bytes);
    if (!alike.ok()) return Offer::served(alike);
    return Offer::served(gather_on_tree(context, arguments, route.key, checked.block_bytes));
}

}  // namespace

int offer_reduce_scatter_block(const GC_Reduce_call* call, int* code) noexcept {
    const ReduceArguments arguments = arguments_of(*call);
    const OfferedCall offered{CallKind::reduce_scatter_block, arguments,
                              "MPI_Reduce_scatter_block (served by gradcoll)", true};
    return at_offer(offered, code, [&] { return reduce_scatter_block(offered, arguments); });
}

int offer_reduce_scatter(const GC_Reduce_call* call, const void* recvcounts,
                         std::size_t count_bytes, int* code) noexcept {
    const ReduceArguments arguments = arguments_of(*call);
    OfferedCall offered{CallKind::reduce_scatter, arguments,
                        "MPI_Reduce_scatter (served by gradcoll)"};
    return at_offer(offered, code,
                    [&] { return reduce_scatter(offered, recvcounts, count_bytes); });
}

int offer_allgather(const GC_Gather_call* call, int* code) noexcept {
    const GatherArguments arguments{call->sendbuf,
                                    call->sendcount,
                                    handle_of<MPI_Datatype>(call->sendtype),
                                    call->recvbuf,
                                    call->recvcount,
                                    handle_of<MPI_Datatype>(call->recvtype),
                                    handle_of<MPI_Comm>(call->comm)};
    const ReduceArguments receive_side{
        nullptr,     arguments.recvbuf, arguments.recvcount, arguments.recvtype,
        MPI_OP_NULL, arguments.comm};
    const OfferedCall offered{CallKind::allgather, receive_side,
                              "MPI_Allgather (served by gradcoll)", true};
    return at_offer(offered, code, [&] { return allgather(offered, arguments); });
}

}  // namespace gradcoll
