// The collectives of unchanged programs: a call goes the short way, or is admitted, or passes.
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "api/interposed/entries.hpp"
#include "api/interposed/gate.hpp"
#include "api/interposed/offer.hpp"
#include "attach/attachments.hpp"
#include "attach/offered_comm.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "call/device_allreduce.hpp"
#include "call/nonblocking_call.hpp"
#include "mpi/mpi_reach.hpp"

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

namespace {

/// Returns whether the MPI library finds out what is wrong with the arguments without a look into
/// the vectors.
bool is_for_mpi_to_refuse(const Call& call) {
    return call.pass_reason == PassReason::wrong_arguments ||
           call.pass_reason == PassReason::unusable_buffer ||
           call.arguments.sendbuf == call.arguments.recvbuf;
}

/// Passes an allreduce through copies in host memory if the MPI library refuses memory of devices.
/// A program whose vectors are there has to run whichever way its calls go.
std::optional<Outcome> pass_by_copies(const Call& call) {
    if (call.entry->counted_as != CallKind::allreduce) return {};
    if (!call.memory.any_device() || call.memory.any_unserved() || is_for_mpi_to_refuse(call))
        return {};
    if (!mpi_refuses_memory_of(*Devices::of_process().plugin())) return {};
    return pass_device_allreduce(call.context.get(), call.arguments, call.memory);
}

/// Offers a blocking call. `passed` is that of run_cached().
int offer(const Entry& entry, const CallArguments& arguments, int* code,
          GC_Passed_call* passed = nullptr) noexcept {
    if (has(entry.kind, CallTrait::all_meet))
        meet_before(arguments.comm, entry.whole_count.value_or(arguments.count));
    const Shortcut known = offer_cached(entry, arguments.comm, code, [&](Status& status) {
        return run_cached(entry, arguments, status, passed);
    });
    if (known != Shortcut::no) return known == Shortcut::served ? 1 : 0;
    return at_offer(entry, arguments, {}, code, run_call, pass_by_copies);
}

MPI_Count count_at(const void* counts, std::size_t count_bytes, int index) {
    const char* at =
        static_cast<const char*>(counts) + count_bytes * static_cast<std::size_t>(index);
    if (count_bytes == sizeof(std::int32_t)) {
        std::int32_t count = 0;
        std::memcpy(&count, at, sizeof count);
        return count;
    }
    std::int64_t count = 0;
    std::memcpy(&count, at, sizeof count);
    return count;
}

/// Reads the sizes of the blocks. If all are equal, which all ranks know alike, the call is like
/// MPI_Reduce_scatter_block.
Status read_blocks(const void* recvcounts, std::size_t count_bytes, CallArguments& arguments,
                   Entry& entry) {
    if (arguments.comm == MPI_COMM_NULL) return {};
    const int rank_count = rank_count_of(arguments.comm);
    if (rank_count == 0) return {};
    if (recvcounts == nullptr) return {Code::invalid_argument, "recvcounts is null"};
    arguments.count = count_at(recvcounts, count_bytes, 0);
    // The MPI library refuses wrong counts.
    constexpr MPI_Count beyond_all = std::numeric_limits<MPI_Count>::max();
    MPI_Count whole = 0;
    bool all_alike = true;
    for (int rank = 0; rank < rank_count; ++rank) {
        const MPI_Count count = count_at(recvcounts, count_bytes, rank);
        if (__builtin_add_overflow(whole, count, &whole)) whole = beyond_all;
        all_alike = all_alike && count == arguments.count;
    }
    entry.whole_count = whole;
    const std::size_t bytes = count_bytes * static_cast<std::size_t>(rank_count);
    if (!all_alike)
        entry.unequal_blocks =
            Hash().bytes(static_cast<const std::byte*>(recvcounts), bytes).digest();
    return {};
}

/// This is MPI_Reduce as an allreduce whose result only the root keeps (gc_reproducible=anywhere).
constexpr Entry reduce_anywhere{.name = row_of(CallKind::reduce).offered_name,
                                .reach = Reach::host_and_devices,
                                .offered = true,
                                .counted_as = CallKind::reduce};

/// Returns whether gc_reproducible=anywhere holds on the communicator.
bool is_anywhere_on(MPI_Comm comm) {
    const CommContext* const context = known_comm(comm, false).context;
    return context != nullptr ? context->settings().current().anywhere
                              : process_settings().anywhere;
}

/// Returns whether the call goes that way. What is wrong with it is found on the usual one, and so
/// is what adds integers. Info that waits on the communicator is taken first: it may ask for this.
bool is_reduced_anywhere(const CallArguments& a) {
    if (a.comm == MPI_COMM_NULL || !mpi_is_running()) return false;
    if (reason_to_pass(reduce_anywhere, a.comm) == PassReason::none) take_info_that_waits(a.comm);
    if (!is_anywhere_on(a.comm)) return false;
    if (a.root < 0 || a.root >= rank_count_of(a.comm) || a.datatype == MPI_DATATYPE_NULL ||
        a.count <= 0)
        return false;
    const Classified classified = classify(a.count, a.datatype, a.op);
    return classified.passes() || is_floating(classified.shape.type);
}

int offer_reduce_anywhere(CallArguments arguments, int* code) noexcept try {
    int rank = 0;
    if (!mpi_is_running() || PMPI_Comm_rank(arguments.comm, &rank) != MPI_SUCCESS) return 0;
    const BufferExtent extent = extent_of(arguments.count, arguments.datatype);
    std::vector<std::byte> room(rank == arguments.root ? 0 : extent.size_bytes);
    if (rank != arguments.root) arguments.recvbuf = room.data() - extent.shift;
    return at_offer(reduce_anywhere, arguments, {}, code, run_call);
} catch (...) {
    *code = raise_error(arguments.comm, reduce_anywhere.name, status_of_current_exception());
    return 1;
}

/// An allgather is exact whatever the codec: in programs that do not ask for compression
/// themselves, only sums are ever compressed.
constexpr Entry allgather_one_host = [] {
    Entry entry = offered_entry(CallKind::allgather);
    entry.needs_one_host = true;
    return entry;
}();

}  // namespace

template <CallKind kind>
int offer_call(const GC_Call* call, int* code) noexcept {
    static constexpr Entry entry = offered_entry(kind);
    return offer(entry, arguments_of(kind, *call), code, call->passed);
}

template <>
int offer_call<CallKind::iallreduce>(const GC_Call* call, int* code) noexcept {
    static constexpr Entry entry = offered_entry(CallKind::iallreduce);
    const CallArguments arguments = arguments_of(entry.kind, *call);
    auto* const request = static_cast<MPI_Request*>(call->request);
    const Shortcut known =
        request == nullptr
            ? Shortcut::no
            : offer_cached(entry, arguments.comm, code, [&](Status& status) {
                  return start_cached(entry, arguments, request, status, call->passed);
              });
    if (known != Shortcut::no) return known == Shortcut::served ? 1 : 0;
    return at_offer(entry, arguments, check_request(request), code,
                    [&](Call& admitted) { return start_nonblocking(admitted, request); });
}

template <>
int offer_call<CallKind::reduce_scatter>(const GC_Call* call, int* code) noexcept {
    if (!mpi_is_running()) return 0;
    CallArguments arguments = arguments_of(CallKind::reduce_scatter, *call);
    Entry entry = offered_entry(CallKind::reduce_scatter);
    Status complaint = read_blocks(call->recvcounts, call->count_bytes, arguments, entry);
    if (complaint.ok() && !entry.unequal_blocks) return offer(entry, arguments, code);
    meet_before(arguments.comm, entry.whole_count.value_or(0));
    return at_offer(entry, arguments, std::move(complaint), code, run_call);
}

template <>
int offer_call<CallKind::allgather>(const GC_Call* call, int* code) noexcept {
    static constexpr Entry entry = offered_entry(CallKind::allgather);
    return offer(intercepted_calls().gathers_over_tree() ? entry : allgather_one_host,
                 arguments_of(entry.kind, *call), code);
}

template <>
int offer_call<CallKind::reduce>(const GC_Call* call, int* code) noexcept {
    static constexpr Entry entry = offered_entry(CallKind::reduce);
    const CallArguments arguments = arguments_of(entry.kind, *call);
    return is_reduced_anywhere(arguments) ? offer_reduce_anywhere(arguments, code)
                                          : offer(entry, arguments, code);
}

namespace {

template <CallKind kind>
constexpr CallOffer offer_of() {
    if constexpr (row_of(kind).function.empty())
        return nullptr;
    else
        return offer_call<kind>;
}

}  // namespace

const std::array<CallOffer, call_kind_count> offers = {
#define GC_KIND(CONSTANT, name, ...) offer_of<CallKind::name>(),
#include "base/call_kinds.def"
#undef GC_KIND
};

}  // namespace gradcoll
