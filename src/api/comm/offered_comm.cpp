#include "api/comm/offered_comm.hpp"

#include <string>

#include "api/comm/attachments.hpp"
#include "api/comm/comm_info.hpp"
#include "api/settings/settings.hpp"
#include "base/log.hpp"

namespace gradcoll {
namespace {

/// Whether some call of this size could be served under the settings of the process.
bool is_worth_attaching(const OfferedSize& size) {
    const Settings& settings = process_settings();
    return size.is_compared || size.bytes >= settings.tree_min_bytes ||
           (size.may_be_lossy && size.bytes >= settings.min_bytes);
}

Result<std::shared_ptr<CommContext>> attach_and_take_info(MPI_Comm comm) {
    auto context = attach_without_info(comm);
    if (!context) return context;
    GRADCOLL_TRY(take_info_of(comm, **context));
    return context;
}

std::string name_of(MPI_Comm comm) {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    return name;
}

/// A failure is the same on every rank: it is said once and remembered, so that nobody tries again.
OfferedComm or_refused(MPI_Comm comm, Result<std::shared_ptr<CommContext>> context) {
    if (context) return {std::move(context).value()};
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    log(rank == 0 ? LogLevel::warn : LogLevel::debug,
        "calls on communicator '{}' pass to the MPI library: {}", name_of(comm),
        context.status().message());
    if (const Status noted = refuse(comm); !noted.ok()) log(LogLevel::debug, "{}", noted.message());
    return {nullptr, PassReason::attaching_failed};
}

/// What is known of the communicator without asking other ranks; nothing if it is not attached, but
/// could be.
OfferedComm known_comm(MPI_Comm comm) {
    auto attached = attached_context(comm);
    if (!attached) return {nullptr, PassReason::invalid_comm};
    if (*attached != nullptr) {
        const bool alone = (*attached)->identity().rank_count() == 1;
        return {std::move(attached).value(), alone ? PassReason::single_rank : PassReason::none};
    }
    const int rank_count = rank_count_of(comm);
    if (rank_count == 0) return {nullptr, PassReason::intercommunicator};
    if (rank_count == 1) return {nullptr, PassReason::single_rank};
    if (const auto refused = is_refused(comm); !refused || *refused)
        return {nullptr, PassReason::attaching_failed};
    return {};
}

bool is_decided(const OfferedComm& found) {
    return found.context != nullptr || found.passes();
}

}  // namespace

int rank_count_of(MPI_Comm comm) {
    int is_inter = 0;
    int rank_count = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter == 0) PMPI_Comm_size(comm, &rank_count);
    return rank_count;
}

OfferedComm comm_for_offer(MPI_Comm comm, const OfferedSize& size) {
    OfferedComm found = known_comm(comm);
    if (is_decided(found)) return found;
    if (!is_worth_attaching(size)) return {nullptr, PassReason::short_of_attaching};
    if (!size.may_attach) return {nullptr, PassReason::not_attached};
    return or_refused(comm, attach_and_take_info(comm));
}

OfferedComm comm_for_info(MPI_Comm comm, bool& attached_now) {
    OfferedComm found = known_comm(comm);
    attached_now = !is_decided(found);
    return attached_now ? or_refused(comm, attach_without_info(comm)) : found;
}

}  // namespace gradcoll
