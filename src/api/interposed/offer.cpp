#include "api/interposed/offer.hpp"

#include "api/comm/attachments.hpp"
#include "api/interposed/comm_info.hpp"
#include "api/interposed/gate.hpp"
#include "base/log.hpp"

namespace gradcoll {
namespace {

Settings default_settings() {
    SettingsText text;
    for (const OptionInfo& row : option_table()) text.set(row.id, row.default_value);
    auto settings = Settings::parse(text);
    return settings ? std::move(settings).value() : Settings();
}

GC_Intercepted intercepted(CallKind kind) {
    switch (kind) {
        case CallKind::allreduce:
            return GC_CALL_ALLREDUCE;
        case CallKind::iallreduce:
            return GC_CALL_IALLREDUCE;
        case CallKind::allreduce_init:
            return GC_CALL_ALLREDUCE_INIT;
        case CallKind::reduce_scatter_block:
            return GC_CALL_REDUCE_SCATTER_BLOCK;
        case CallKind::reduce_scatter:
            return GC_CALL_REDUCE_SCATTER;
        case CallKind::allgather:
            return GC_CALL_ALLGATHER;
        case CallKind::persistent:
            return GC_CALL_START;
    }
    return GC_CALL_KINDS;
}

/// For the report; 0 if nobody counts, or if the call makes no sense.
std::uint64_t vector_bytes(const OfferedCall& call) {
    if (call.arguments.count < 0 || call.arguments.datatype == MPI_DATATYPE_NULL) return 0;
    const std::uint64_t bytes = observed_bytes(call.arguments.count, call.arguments.datatype);
    int ranks = 1;
    if (bytes != 0 && call.in_blocks) PMPI_Comm_size(call.arguments.comm, &ranks);
    return bytes * static_cast<std::uint64_t>(ranks);
}

/// Whether some call of this size could be served under the settings of the process.
bool is_worth_attaching(const OfferedSize& size) {
    const Settings& settings = process_settings();
    return size.bytes >= settings.tree_min_bytes ||
           (size.may_be_lossy && size.bytes >= settings.min_bytes);
}

Result<std::shared_ptr<CommContext>> attach_and_take_info(MPI_Comm comm) {
    auto context = attach_without_info(comm);
    if (!context) return context;
    GRADCOLL_TRY(take_info_of(comm, **context));
    return context;
}

/// A failure is the same on every rank: it is said once and remembered, so that nobody tries again.
OfferedComm or_refused(MPI_Comm comm, Result<std::shared_ptr<CommContext>> context) {
    if (context) return {std::move(context).value(), nullptr};
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    log(rank == 0 ? LogLevel::warn : LogLevel::debug,
        "calls on communicator '{}' pass to the MPI library: {}", name_of_comm(comm),
        context.status().message());
    if (const Status noted = refuse(comm); !noted.ok()) log(LogLevel::debug, "{}", noted.message());
    return {nullptr, "the communicator could not be attached"};
}

/// What is known of the communicator without asking other ranks; nothing if it is not attached, but
/// could be.
OfferedComm known_comm(MPI_Comm comm) {
    auto attached = attached_context(comm);
    if (!attached) return {nullptr, "the communicator is not valid"};
    if (*attached != nullptr) {
        const char* reason = (*attached)->rank_count() == 1 ? "a single rank" : nullptr;
        return {std::move(attached).value(), reason};
    }
    int is_inter = 0;
    int rank_count = 1;
    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_size(comm, &rank_count);
    if (is_inter != 0) return {nullptr, "comm is an intercommunicator"};
    if (rank_count == 1) return {nullptr, "a single rank"};
    if (const auto refused = is_refused(comm); !refused || *refused)
        return {nullptr, "the communicator could not be attached"};
    return {};
}

bool is_decided(const OfferedComm& found) {
    return found.context != nullptr || found.left_because != nullptr;
}

}  // namespace

const Settings& process_settings() {
    static const Settings settings = [] {
        auto parsed = Settings::parse(SettingsText::from_environment());
        return parsed ? std::move(parsed).value() : default_settings();
    }();
    return settings;
}

const char* reason_to_leave(const OfferedCall& call) {
    if (call.arguments.comm == MPI_COMM_NULL) return wrong_arguments;
    if (!interception_is_on()) return "MPI_Pcontrol has switched interception off";
    if (!intercepted_calls().has(intercepted(call.kind)))
        return "GC_INTERCEPT leaves this kind of call out";
    return nullptr;
}

void count_left(const OfferedCall& call, const char* reason) {
    const MPI_Comm comm = call.arguments.comm;
    if (comm == MPI_COMM_NULL) return;
    const std::uint64_t bytes = reason != wrong_arguments ? vector_bytes(call) : 0;
    const auto attached = attached_context(comm);
    if (attached && *attached != nullptr)
        (*attached)->count_passed(call.kind, bytes, reason);
    else
        count_unattached(comm, call.kind, bytes, reason);
}

OfferedComm comm_for_offer(MPI_Comm comm, const OfferedSize& size) {
    OfferedComm found = known_comm(comm);
    if (is_decided(found)) return found;
    if (!is_worth_attaching(size))
        return {nullptr, "vector is too short to attach its communicator"};
    if (!size.may_attach) return {nullptr, "communicator is not attached"};
    return or_refused(comm, attach_and_take_info(comm));
}

OfferedComm comm_for_info(MPI_Comm comm, bool& attached_now) {
    OfferedComm found = known_comm(comm);
    attached_now = !is_decided(found);
    return attached_now ? or_refused(comm, attach_without_info(comm)) : found;
}

}  // namespace gradcoll
