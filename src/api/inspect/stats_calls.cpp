// GC_Comm_get_stats, GC_Comm_reset_stats.
#include "gradcoll/inspect.h"

#include "attach/attachments.hpp"
#include "mpi/boundary.hpp"
#include "mpi/request.hpp"

namespace gradcoll {
namespace {

Status get_stats(MPI_Comm comm, GC_Stats* out) {
    GRADCOLL_TRY(check_comm(comm));
    if (out == nullptr) return {Code::invalid_argument, "stats is null"};
    const auto context = attached_context(comm);
    if (!context) return context.status();
    *out = *context ? (*context)->statistics().read() : GC_Stats{};
    if (!*context) out->last_pass_reason = "the communicator is not attached";
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
