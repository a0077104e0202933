#include "api/interposed/offer.hpp"

#include <iterator>

#include "api/interposed/gate.hpp"
#include "attach/attachments.hpp"
#include "base/log.hpp"

namespace gradcoll {
namespace {

// These are in the order of CallKind. What is submitted to an engine is no call of MPI.
constexpr GC_Intercepted intercepted[] = {GC_CALL_ALLREDUCE,
                                          GC_CALL_IALLREDUCE,
                                          GC_CALL_START,
                                          GC_CALL_ALLREDUCE_INIT,
                                          GC_CALL_REDUCE_SCATTER_BLOCK,
                                          GC_CALL_REDUCE_SCATTER,
                                          GC_CALL_ALLGATHER,
                                          GC_CALL_BARRIER,
                                          GC_CALL_BCAST,
                                          GC_CALL_REDUCE};
static_assert(std::size(intercepted) == static_cast<std::size_t>(CallKind::submitted));

}  // namespace

void meet(MPI_Comm comm) noexcept try {
    if (interception_is_on() && mpi_is_running()) meet_if_new(comm);
} catch (...) {
    log(LogLevel::warn, "presence check: {}", status_of_current_exception().message());
}

PassReason reason_to_pass(const Entry& entry, MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return PassReason::wrong_arguments;
    if (!interception_is_on()) return PassReason::interception_off;
    if (!intercepted_calls().has(intercepted[static_cast<std::size_t>(entry.kind)]))
        return PassReason::not_intercepted;
    return PassReason::none;
}

Call admit_offer(const Entry& entry, const CallArguments& arguments, Status complaint) {
    const PassReason early = reason_to_pass(entry, arguments.comm);
    if (early == PassReason::none) return admit(entry, arguments, std::move(complaint));
    Call call(entry, arguments);
    call.pass_reason = early;
    if (arguments.comm == MPI_COMM_NULL) return call;
    if (auto attached = attached_context(arguments.comm)) call.context = *attached;
    return call;
}

}  // namespace gradcoll
