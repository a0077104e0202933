// MPI_Reduce_scatter_block, MPI_Reduce_scatter with blocks of one size, and MPI_Allgather of
// unchanged programs.
#include "call/blocks.hpp"

#include <cstring>
#include <limits>

#include "api/interposed/entries.hpp"
#include "api/interposed/gate.hpp"
#include "api/interposed/offer.hpp"
#include "attach/offered_comm.hpp"
#include "base/hash.hpp"
#include "call/cached_blocks.hpp"

namespace gradcoll {
namespace {

constexpr Entry reduce_scatter_block{.collective = Collective::reduce_scatter_block,
                                     .kind = CallKind::reduce_scatter_block,
                                     .name = "MPI_Reduce_scatter_block (served by gradcoll)",
                                     .reach = Reach::host_and_devices,
                                     .offered = true};
constexpr Entry reduce_scatter{.collective = Collective::reduce_scatter_block,
                               .kind = CallKind::reduce_scatter,
                               .name = "MPI_Reduce_scatter (served by gradcoll)",
                               .reach = Reach::host_and_devices,
                               .offered = true};
/// An allgather is exact whatever the codec: in programs that do not ask for compression
/// themselves, only sums are ever compressed.
constexpr Entry allgather{.collective = Collective::allgather,
                          .kind = CallKind::allgather,
                          .name = "MPI_Allgather (served by gradcoll)",
                          .reach = Reach::host_and_devices,
                          .offered = true};
constexpr Entry allgather_one_host{.collective = Collective::allgather,
                                   .kind = CallKind::allgather,
                                   .name = "MPI_Allgather (served by gradcoll)",
                                   .reach = Reach::host_and_devices,
                                   .offered = true,
                                   .needs_one_host = true};

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

Shortcut offer_cached_blocks(const Entry& entry, const CallArguments& arguments,
                             int* code) noexcept {
    return offer_cached(entry, arguments.comm, code, [&](Status& status) {
        return run_cached_blocks(entry, arguments, status);
    });
}

}  // namespace

int offer_reduce_scatter_block(const GC_Reduce_call* call, int* code) noexcept {
    const CallArguments arguments = arguments_of(*call);
    meet_before(arguments.comm, arguments.count);
    const Shortcut known = offer_cached_blocks(reduce_scatter_block, arguments, code);
    if (known != Shortcut::no) return known == Shortcut::served ? 1 : 0;
    return at_offer(reduce_scatter_block, arguments, {}, code, run_reduce_scatter);
}

int offer_reduce_scatter(const GC_Reduce_call* call, const void* recvcounts,
                         std::size_t count_bytes, int* code) noexcept {
    if (!mpi_is_running()) return 0;
    CallArguments arguments = arguments_of(*call);
    Entry entry = reduce_scatter;
    Status complaint = read_blocks(recvcounts, count_bytes, arguments, entry);
    meet_before(arguments.comm, entry.whole_count.value_or(0));
    if (complaint.ok() && !entry.unequal_blocks) {
        const Shortcut known = offer_cached_blocks(entry, arguments, code);
        if (known != Shortcut::no) return known == Shortcut::served ? 1 : 0;
    }
    return at_offer(entry, arguments, std::move(complaint), code, run_reduce_scatter);
}

int offer_allgather(const GC_Gather_call* call, int* code) noexcept {
    const CallArguments arguments = arguments_of(*call);
    meet_before(arguments.comm, arguments.count);
    const Entry& entry = intercepted_calls().gathers_over_tree() ? allgather : allgather_one_host;
    const Shortcut known = offer_cached_blocks(entry, arguments, code);
    if (known != Shortcut::no) return known == Shortcut::served ? 1 : 0;
    return at_offer(entry, arguments, {}, code, run_allgather);
}

}  // namespace gradcoll
