// GC_Iallreduce, GC_Iallreduce_c.
#include <fmt/format.h>

#include "call/device_allreduce.hpp"
#include "call/nonblocking_call.hpp"
#include "gradcoll/collectives.h"

namespace gradcoll {
namespace {

/// Verifies that the MPI library reaches the buffers. It completes the request, so the result could
/// not be copied back.
Status check_mpi_reaches(const Call& call) {
    if (mpi_reaches(call.memory)) return {};
    return {
        Code::invalid_buffer,
        fmt::format("a buffer is memory of a device, and this call passes to the MPI library, "
                    "which does not reach it ({}); GC_Allreduce and persistent requests copy it",
                    text_of(call.pass_reason))};
}

Outcome pass(const Call& call, MPI_Request* request) {
    GRADCOLL_TRY(check_mpi_reaches(call));
    count_passed(call);
    return pass_iallreduce(call.arguments, request);
}

constexpr Entry iallreduce_entry{
    .kind = CallKind::iallreduce, .name = "GC_Iallreduce", .reach = Reach::host_and_devices};

Outcome iallreduce(const CallArguments& arguments, MPI_Request* request) {
    if (request == nullptr) return Outcome::bad_request("request is a null pointer");
    Call call = admit(iallreduce_entry, arguments);
    if (!call.refusal.ok()) refuse_nonblocking(call, call.refusal);
    if (!call.error.ok()) return call.error;
    return call.passes() ? pass(call, request) : start_nonblocking(call, request);
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return at_boundary(comm, "GC_Iallreduce", [&] {
        return iallreduce({sendbuf, recvbuf, count, datatype, op, comm}, request);
    });
}

extern "C" int GC_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                               MPI_Request* request) {
    return at_boundary(comm, "GC_Iallreduce_c", [&] {
        return iallreduce({sendbuf, recvbuf, count, datatype, op, comm}, request);
    });
}
