// MPI_Allreduce and MPI_Iallreduce of unchanged programs.
#include <optional>

#include "api/interposed/entries.hpp"
#include "api/interposed/offer.hpp"
#include "call/blocking.hpp"
#include "call/device_allreduce.hpp"
#include "call/nonblocking_call.hpp"
#include "mpi/mpi_reach.hpp"

namespace gradcoll {
namespace {

// These are the only calls in which Open MPI refuses one buffer for input and result.
constexpr Entry blocking{.name = "MPI_Allreduce (served by gradcoll)",
                         .reach = Reach::host_and_devices,
                         .offered = true,
                         .mpi_takes_aliased = false};
constexpr Entry nonblocking{.kind = CallKind::iallreduce,
                            .name = "MPI_Iallreduce (served by gradcoll)",
                            .reach = Reach::host_and_devices,
                            .offered = true,
                            .may_wait = false,
                            .mpi_takes_aliased = false};

/// Returns whether the MPI library finds out what is wrong with the arguments without a look into
/// the vectors.
bool is_for_mpi_to_refuse(const Call& call) {
    return call.pass_reason == PassReason::wrong_arguments ||
           call.pass_reason == PassReason::unusable_buffer ||
           call.arguments.sendbuf == call.arguments.recvbuf;
}

/// Passes a call through copies in host memory if the MPI library refuses memory of devices. A
/// program whose vectors are there has to run whichever way its calls go.
std::optional<Outcome> pass_by_copies(const Call& call) {
    if (!call.memory.any_device() || call.memory.any_unserved() || is_for_mpi_to_refuse(call))
        return {};
    if (!mpi_refuses_memory_of(*Devices::of_process().plugin())) return {};
    return pass_device_allreduce(call.context.get(), call.arguments, call.memory);
}

}  // namespace

int offer_allreduce(const GC_Reduce_call* call, GC_Passed_call* passed, int* code) noexcept {
    const CallArguments arguments = arguments_of(*call);
    meet_before(arguments.comm, arguments.count);
    const Shortcut known = offer_cached(blocking, arguments.comm, code, [&](Status& status) {
        return run_cached(blocking, arguments, status, passed);
    });
    if (known != Shortcut::no) return known == Shortcut::served ? 1 : 0;
    return at_offer(blocking, arguments, {}, code, run_allreduce, pass_by_copies);
}

int offer_iallreduce(const GC_Reduce_call* call, GC_Passed_call* passed, void* request,
                     int* code) noexcept {
    const CallArguments arguments = arguments_of(*call);
    const Shortcut known =
        request == nullptr
            ? Shortcut::no
            : offer_cached(nonblocking, arguments.comm, code, [&](Status& status) {
                  return start_cached(nonblocking, arguments, static_cast<MPI_Request*>(request),
                                      status, passed);
              });
    if (known != Shortcut::no) return known == Shortcut::served ? 1 : 0;
    return at_offer(nonblocking, arguments, check_request(request), code, [&](Call& admitted) {
        return start_nonblocking(admitted, static_cast<MPI_Request*>(request));
    });
}

}  // namespace gradcoll
