// MPI_Comm_set_info of unchanged programs.
#include "api/interposed/entries.hpp"
#include "attach/comm_info.hpp"
#include "attach/offered_comm.hpp"
#include "attach/presence.hpp"
#include "base/log.hpp"
#include "comm/agreement.hpp"
#include "mpi/boundary.hpp"
#include "settings/info_keys.hpp"

namespace gradcoll {
namespace {

/// Puts the gc_* keys of `from` into `to`.
Status copy_keys(MPI_Info from, MPI_Info to) {
    const auto keys = gc_keys_of(from);
    if (!keys) return keys.status();
    for (const std::string& key : *keys)
        if (const auto value = info_value(from, key); value && *value)
            GRADCOLL_TRY(
                from_mpi(PMPI_Info_set(to, key.c_str(), (*value)->c_str()), "MPI_Info_set"));
    return {};
}

/// Takes the keys that MPI has kept from earlier, and over them those of `info` (which MPI may have
/// kept, too).
Status take_info_with_kept(MPI_Comm comm, CommContext& context, MPI_Info info) {
    MPI_Info all = MPI_INFO_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_get_info(comm, &all), "MPI_Comm_get_info"));
    if (all == MPI_INFO_NULL) GRADCOLL_TRY(from_mpi(PMPI_Info_create(&all), "MPI_Info_create"));
    Status status = copy_keys(info, all);
    if (status.ok()) status = take_info(context, all);
    PMPI_Info_free(&all);
    return status;
}

/// Takes the keys of `info` if any rank has some. Ranks ask each other only on communicators that
/// can ever use settings.
Status take_new_info(MPI_Comm comm, MPI_Info info) {
    if (rank_count_of(comm) <= 1) return {};
    meet_if_new(comm);
    if (reason_not_to_ask(comm) != PassReason::none) return {};
    const auto keys = gc_keys_of(info);
    if (!keys) return keys.status();
    const auto none = all_ranks(comm, keys->empty());
    if (!none) return none.status();
    if (*none) return {};
    bool attached_now = false;
    const OfferedComm found = comm_for_info(comm, attached_now);
    if (found.passes()) return {};
    return attached_now ? take_info_with_kept(comm, *found.context, info)
                        : take_info(*found.context, info);
}

}  // namespace

void info_was_set(GC_Mpi_handle comm_bits, GC_Mpi_handle info) noexcept try {
    const auto comm = handle_of<MPI_Comm>(comm_bits);
    if (!mpi_is_running() || comm == MPI_COMM_NULL) return;
    const Status status = take_new_info(comm, handle_of<MPI_Info>(info));
    if (!status.ok()) log(LogLevel::warn, "info of communicator: {}", status.message());
} catch (...) {
    log(LogLevel::warn, "info of communicator: {}", status_of_current_exception().message());
}

}  // namespace gradcoll
