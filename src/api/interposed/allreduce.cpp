// MPI_Allreduce and MPI_Iallreduce of unchanged programs.
#include "api/calls/blocking.hpp"
#include "api/calls/nonblocking_call.hpp"
#include "api/calls/progress_thread.hpp"
#include "api/calls/reduction.hpp"
#include "api/interposed/entries.hpp"
#include "api/interposed/offer.hpp"
#include "api/interposed/offered_comm.hpp"

namespace gradcoll {
namespace {

/// A call that the tree will do: its arguments with overlap settled.
struct Admitted {
    PassReason pass_reason = PassReason::none;  ///< none: admitted
    std::shared_ptr<CommContext> context;
    CallShape shape;
    Route route;
    ReduceArguments arguments;
    std::unique_ptr<std::byte[]> copy;

    bool passes() const { return pass_reason != PassReason::none; }
};

Admitted passing(PassReason reason) {
    Admitted out;
    out.pass_reason = reason;
    return out;
}

/// What only this rank knows (its buffers) is looked at before the communicator counts the call.
Admitted admit(const ReduceArguments& arguments, bool blocking) {
    if (!check_handles(arguments).ok()) return passing(PassReason::wrong_arguments);
    const Classified call = classify(arguments.count, arguments.datatype, arguments.op);
    if (call.passes()) return passing(call.pass_reason);
    const Reach reach = blocking ? Reach::host_and_devices : Reach::host;
    if (!check_buffers(arguments, reach).ok()) return passing(PassReason::unusable_buffer);
    const OfferedSize size{
        call.shape.size_bytes(),
        call.shape.op == ReduceOp::sum && process_settings().ever_compresses(call.shape.type),
        /*may_attach=*/blocking};
    OfferedComm found = comm_for_offer(arguments.comm, size);
    if (found.passes()) return passing(found.pass_reason);
    if (!blocking && !found.context->identity().all_ranks_have_threads())
        return passing(PassReason::nonblocking_without_threads);
    SettledInput input =
        settle_input({"sendbuf", arguments.sendbuf, call.shape.size_bytes()},
                     {"recvbuf", arguments.recvbuf, call.shape.size_bytes()}, arguments.recvbuf,
                     /*mpi_takes_it=*/false);
    if (input.passes()) return passing(input.pass_reason);

    Admitted out;
    out.context = std::move(found.context);
    out.shape = call.shape;
    out.arguments = arguments;
    out.arguments.sendbuf = input.sendbuf;
    out.copy = std::move(input.copy);
    out.route = route_in(*out.context, out.shape,
                         {.in_place = is_in_place(out.arguments), .blocking = blocking});
    out.pass_reason = out.route.pass_reason;
    return out;
}

Offer allreduce(const OfferedCall& call, const ReduceArguments& arguments) {
    const Admitted admitted = admit(arguments, /*blocking=*/true);
    if (admitted.passes()) return Offer::passed(admitted.pass_reason);
    const Status alike = check_alike(*admitted.context, call.name, arguments);
    if (!alike.ok()) return Offer::served(alike);
    return Offer::served(
        run_allreduce(*admitted.context, admitted.arguments, admitted.shape, admitted.route));
}

Status start(const OfferedCall& call, Admitted admitted, MPI_Request* request) {
    const Binding binding = binding_of(admitted.arguments, admitted.shape);
    auto started = NonblockingCall::start({std::move(admitted.context), admitted.route.key, binding,
                                           call.name, std::move(admitted.copy)},
                                          request);
    if (!started) return started.status();
    return give_to_progress_thread(std::move(started).value());
}

Offer iallreduce(const OfferedCall& call, const ReduceArguments& arguments, MPI_Request* request) {
    if (request == nullptr) return Offer::passed(PassReason::wrong_arguments);
    Admitted admitted = admit(arguments, /*blocking=*/false);
    if (admitted.passes()) return Offer::passed(admitted.pass_reason);
    return Offer::served(start(call, std::move(admitted), request));
}

}  // namespace

int offer_allreduce(const GC_Reduce_call* call, int* code) noexcept {
    const ReduceArguments arguments = arguments_of(*call);
    const OfferedCall offered{CallKind::allreduce, arguments, "MPI_Allreduce (served by gradcoll)"};
    return at_offer(offered, code, [&] { return allreduce(offered, arguments); });
}

int offer_iallreduce(const GC_Reduce_call* call, void* request, int* code) noexcept {
    const ReduceArguments arguments = arguments_of(*call);
    const OfferedCall offered{CallKind::iallreduce, arguments,
                              "MPI_Iallreduce (served by gradcoll)"};
    return at_offer(offered, code, [&] {
        return iallreduce(offered, arguments, static_cast<MPI_Request*>(request));
    });
}

}  // namespace gradcoll
