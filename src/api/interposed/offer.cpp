#include "api/interposed/offer.hpp"

#include "api/interposed/gate.hpp"
#include "attach/attachments.hpp"
#include "base/log.hpp"

namespace gradcoll {
void meet(MPI_Comm comm) noexcept try {
    if (interception_is_on() && mpi_is_running()) meet_if_new(comm);
} catch (...) {
    log(LogLevel::warn, "presence check: {}", status_of_current_exception().message());
}

PassReason reason_to_pass(const Entry& entry, MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return PassReason::wrong_arguments;
    if (!interception_is_on()) return PassReason::interception_off;
    if (!intercepted_calls().has(static_cast<GC_Call_kind>(entry.counted_as)))
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
