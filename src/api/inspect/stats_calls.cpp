// GC_Comm_get_stats, GC_Comm_reset_stats.
#include "gradcoll/inspect.h"

#include "api/comm/attachments.hpp"
#include "api/edge/boundary.hpp"
#include "api/edge/request.hpp"
#include "base/clock.hpp"

namespace gradcoll {
namespace {

CallStats stats_of(const CommContext* context) {
    if (context != nullptr) return context->statistics().read();
    CallStats none;
    none.last_pass_reason = "the communicator is not attached";
    return none;
}

Status get_stats(MPI_Comm comm, GC_Stats* out) {
    GRADCOLL_TRY(check_comm(comm));
    if (out == nullptr) return {Code::invalid_argument, "stats is null"};
    const auto context = attached_context(comm);
    if (!context) return context.status();
    const CallStats stats = stats_of(context->get());
    out->calls_tree = stats.calls_tree;
    out->calls_compressed = stats.calls_compressed;
    out->calls_passed = stats.calls_passed;
    out->bytes_reduced = stats.bytes_reduced;
    out->bytes_sent = stats.bytes_sent;
    out->bytes_sent_exact = stats.bytes_sent_exact;
    out->messages_sent = stats.messages_sent;
    out->seconds_total = seconds_of(stats.nanoseconds);
    out->last_pass_reason = stats.last_pass_reason;
    return {};
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Comm_get_stats(MPI_Comm comm, GC_Stats* stats) {
    return at_boundary(comm, "GC_Comm_get_stats", [&] { return get_stats(comm, stats); });
}

extern "C" int GC_Comm_reset_stats(MPI_Comm comm) {
    return at_boundary(comm, "GC_Comm_reset_stats", [&]() -> Status {
        GRADCOLL_TRY(check_comm(comm));
        const auto context = attached_context(comm);
        if (!context) return context.status();
        if (*context) (*context)->statistics().reset();
        return {};
    });
}
