// GC_Allreduce, GC_Allreduce_c, GC_Allreduce_residual.
#include "call/blocking.hpp"
#include "call/cached_call.hpp"
#include "call/call.hpp"
#include "call/device_allreduce.hpp"
#include "gradcoll/collectives.h"

namespace gradcoll {
namespace {

Outcome pass(const Call& call) {
    count_passed(call);
    return call.memory.any_device()
               ? pass_device_allreduce(call.context.get(), call.arguments, call.memory)
               : pass_allreduce(call.arguments);
}

Outcome allreduce(const Entry& entry, const CallArguments& arguments) {
    Status status;
    const Shortcut known = run_cached(entry, arguments, status);
    if (known == Shortcut::served) return status;
    if (known == Shortcut::passes) return pass_allreduce(arguments);
    const Call call = admit(entry, arguments);
    if (!call.error.ok()) {
        if (!call.refusal.ok()) refuse_call(call, call.refusal);
        return call.error;
    }
    cache_call(call);
    return call.passes() ? pass(call) : run_allreduce(call);
}

constexpr Entry allreduce_entry{.name = "GC_Allreduce", .reach = Reach::host_and_devices};

Entry residual_entry(GC_Residual residual) {
    return {.name = "GC_Allreduce_residual",
            .reach = Reach::host_and_devices,
            .with_residual = true,
            .residual = residual};
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm) {
    return at_boundary(comm, "GC_Allreduce", [&] {
        return allreduce(allreduce_entry, {sendbuf, recvbuf, count, datatype, op, comm});
    });
}

extern "C" int GC_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return at_boundary(comm, "GC_Allreduce_c", [&] {
        return allreduce(allreduce_entry, {sendbuf, recvbuf, count, datatype, op, comm});
    });
}

extern "C" int GC_Allreduce_residual(const void* sendbuf, void* recvbuf, MPI_Count count,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                     GC_Residual residual) {
    return at_boundary(comm, "GC_Allreduce_residual", [&] {
        return allreduce(residual_entry(residual), {sendbuf, recvbuf, count, datatype, op, comm});
    });
}
