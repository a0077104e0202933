#include "observe/observe.hpp"

#include <atomic>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "mpi/lifetime.hpp"

namespace gradcoll {
namespace {

/// SumsOnWire is what goes from rank to rank.
struct SumsOnWire {
    CallSums sums;
    char host[64] = {};  ///< cut if it is longer
};
static_assert(std::is_trivially_copyable_v<SumsOnWire>);

SumsOnWire sums_of_this_rank() {
    SumsOnWire mine;
    const Report* report = process_report();
    if (report == nullptr) return mine;
    const ReportSnapshot snapshot = report->snapshot();
    mine.sums = total_of(snapshot).sums;
    snapshot.process.host.copy(mine.host, sizeof mine.host - 1);
    return mine;
}

std::vector<RankSums> named(const std::vector<SumsOnWire>& all) {
    std::vector<RankSums> ranks;
    for (const SumsOnWire& one : all)
        ranks.push_back({static_cast<int>(ranks.size()), one.host, one.sums});
    return ranks;
}

/// Gathers the sums on rank 0. Collective over MPI_COMM_WORLD, where nothing of the program is
/// under way any more.
void gather() {
    const int rank = comm_rank(MPI_COMM_WORLD);
    const int rank_count = comm_size(MPI_COMM_WORLD);
    SumsOnWire mine = sums_of_this_rank();
    std::vector<SumsOnWire> all(rank == 0 ? static_cast<std::size_t>(rank_count) : 0);
    if (PMPI_Gather(&mine, static_cast<int>(sizeof mine), MPI_BYTE, all.data(),
                    static_cast<int>(sizeof mine), MPI_BYTE, 0, MPI_COMM_WORLD) != MPI_SUCCESS) {
        log(LogLevel::warn, "the report has no sums over ranks: MPI_Gather failed");
        return;
    }
    if (Report* report = process_report(); report != nullptr && rank == 0)
        report->set_ranks(named(all));
}

}  // namespace

void all_ranks_report(MPI_Comm comm) {
    static std::atomic<bool> is_settled{false};
    int likeness = MPI_UNEQUAL;
    if (is_settled || PMPI_Comm_compare(comm, MPI_COMM_WORLD, &likeness) != MPI_SUCCESS) return;
    const bool is_world =
        likeness == MPI_IDENT || likeness == MPI_CONGRUENT || likeness == MPI_SIMILAR;
    if (!is_world || is_settled.exchange(true)) return;
    // The end of the report itself was registered before, so it is written after this.
    if (const Status status = at_finalize(gather); !status.ok())
        log(LogLevel::warn, "the report will have no sums over ranks: {}", status.message());
}

}  // namespace gradcoll
