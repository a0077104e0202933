#include "comm/comm_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "base/log.hpp"
#include "base/mpi/ulfm.hpp"
#include "base/option_check.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "transport/mpi/mpi_channel.hpp"

namespace gradcoll {
namespace {

/// Notice is what a rank tells those who cannot watch the dead one.
struct Notice {
    std::uint64_t magic = 0;
    std::int32_t dead_rank = 0;
    std::int32_t teller = 0;
};
/// Plans may need all tags up to this. Where there are more, none has so many stages as to come to
/// the last two (TagLayout), and the last one is that of NicChannel.
constexpr int least_tag_limit = (1 << 20) - 1;
constexpr std::uint64_t notice_magic = 0x6874'6165'6463'6367;

/// Returns the ranks of the communicator whose processes have failed, as far as an MPI library with
/// ULFM tells.
std::vector<int> failed_as_mpi_says(MPI_Comm comm) {
    OwnedGroup failed(MPI_GROUP_NULL), all(MPI_GROUP_NULL);
    int count = 0;
    if (!ulfm().is_there() || ulfm().get_failed(comm, &failed.handle) != MPI_SUCCESS ||
        PMPI_Comm_group(comm, &all.handle) != MPI_SUCCESS ||
        PMPI_Group_size(failed.handle, &count) != MPI_SUCCESS)
        return {};
    std::vector<int> places(static_cast<std::size_t>(count)), ranks(places.size());
    std::iota(places.begin(), places.end(), 0);
    PMPI_Group_translate_ranks(failed.handle, count, places.data(), all.handle, ranks.data());
    std::erase(ranks, MPI_UNDEFINED);
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

/// Returns the same, and waits a little for it: where another rank has revoked the communicator
/// this one may hear of that before it hears who has died.
std::vector<int> await_failed(MPI_Comm comm) {
    constexpr int tries = 100;
    std::vector<int> failed = failed_as_mpi_says(comm);
    for (int i = 0; i < tries && failed.empty(); ++i) {
        int found = 0;
        usleep(1000);
        PMPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &found, MPI_STATUS_IGNORE);  // lets MPI go on
        failed = failed_as_mpi_says(comm);
    }
    return failed;
}

}  // namespace

std::uint64_t fault_seconds() {
    static const auto seconds =
        parse_integer(option_text(OptionId::fault_seconds), 0, most_fault_seconds);
    return seconds.ok() ? static_cast<std::uint64_t>(*seconds) : 2;
}

/// Waits go on for an eighth of what they may: the rest is for telling others, and for what the MPI
/// library has to give back.
CommWatch::CommWatch(MPI_Comm comm, int rank, const std::vector<ProcessName>& names)
    : PeerWatch(fault_seconds() * 1'000'000'000 / 8,
                ulfm().is_there() ? "the communicator can only be shrunk (GC_Comm_shrink) or freed"
                                  : "the communicator can only be freed"),
      comm_(comm),
      rank_(rank),
      rank_count_(static_cast<int>(names.size())) {
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    all_threads_may_call_ = level == MPI_THREAD_MULTIPLE;
    if (const auto limit = MpiChannel::tag_limit_of_library();
        limit.ok() && *limit >= least_tag_limit)
        notice_tag_ = *limit - 1;
    for (int peer = 0; peer < static_cast<int>(names.size()); ++peer) {
        if (peer == rank_) continue;
        auto process = WatchedProcess::of(names[static_cast<std::size_t>(peer)]);
        if (process == nullptr) {
            sees_all_ = false;
            continue;
        }
        descriptors_.push_back({process->descriptor(), POLLIN, 0});
        watched_.push_back(peer);
        processes_.push_back(std::move(process));
    }
}

bool CommWatch::may_call_mpi() const {
    int is_main = 0;
    if (notice_tag_ == 0) return false;
    return all_threads_may_call_ || (PMPI_Is_thread_main(&is_main) == MPI_SUCCESS && is_main != 0);
}

/// Returns "rank 3 has died", or "ranks 3, 5 have died", with their numbers in the job.
std::string CommWatch::have_died(std::vector<int> ranks) const {
    for (int& rank : ranks) rank = in_job(rank);
    const bool is_one = ranks.size() == 1;
    return fmt::format("{} {} {} died", is_one ? "rank" : "ranks", fmt::join(ranks, ", "),
                       is_one ? "has" : "have");
}

/// Returns which ranks have died that nobody has told of.
std::vector<int> CommWatch::look_at_processes() {
    std::vector<int> ranks;
    if (descriptors_.empty() || poll(descriptors_.data(), descriptors_.size(), 0) <= 0) return {};
    for (std::size_t i = 0; i < descriptors_.size(); ++i)
        if ((descriptors_[i].revents & POLLIN) != 0 && !knows_of(watched_[i]))
            ranks.push_back(watched_[i]);
    return ranks;
}

bool CommWatch::has_died(int rank) {
    const auto found = std::find(watched_.begin(), watched_.end(), rank);
    if (found == watched_.end()) return PeerWatch::has_died(rank);
    pollfd process = descriptors_[static_cast<std::size_t>(found - watched_.begin())];
    return poll(&process, 1, 0) > 0 && (process.revents & POLLIN) != 0;
}

/// Threads that wait look by turns. A mutex would be a lock in warm calls.
void CommWatch::look() {
    if (is_looked_at_.test_and_set(std::memory_order_acquire)) return;
    struct Turn {
        std::atomic_flag& flag;
        ~Turn() { flag.clear(std::memory_order_release); }
    } const turn{is_looked_at_};
    look_alone();
}

void CommWatch::look_alone() {
    if (const std::vector<int> dead = look_at_processes(); !dead.empty()) {
        note(dead, have_died(dead));
        if (may_call_mpi()) tell_others(dead.front());
    } else if (!sees_all_ && may_call_mpi()) {
        hear();
    }
}

/// Tells all ranks, as some may see less than this one. The message is short, so it leaves at once;
/// who is dead, too, does not take it. What MPI still reads is never freed, nor are its requests:
/// Open MPI ends the job when a message fails whose request was freed.
void CommWatch::tell_others(int dead) {
    const auto* const notice = new Notice{notice_magic, dead, rank_};
    for (int other = 0; other < rank_count_; ++other) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (other != rank_ && other != dead)
            PMPI_Isend(notice, sizeof *notice, MPI_BYTE, other, notice_tag_, comm_, &request);
    }
}

/// Hears what another rank has told. What it says is not believed if it cannot be.
void CommWatch::hear() {
    int found = 0;
    MPI_Status status;
    const int code = PMPI_Iprobe(MPI_ANY_SOURCE, notice_tag_, comm_, &found, &status);
    if (code != MPI_SUCCESS) {
        const Status failure = from_mpi(code, "MPI_Iprobe");
        if (failure.code() != Code::peer_died) return;
        std::vector<int> dead = has_fault() ? failed_as_mpi_says(comm_) : await_failed(comm_);
        std::erase_if(dead, [this](int rank) { return knows_of(rank); });
        if (!dead.empty())
            note(dead, have_died(dead) + ", as the MPI library says");
        else if (!has_fault())
            note(-1, "a rank has died, as the MPI library says: " + failure.message());
        return;
    }
    if (found == 0) return;
    Notice notice;
    int bytes = 0;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    if (PMPI_Recv(&notice, sizeof notice, MPI_BYTE, status.MPI_SOURCE, notice_tag_, comm_,
                  &status) != MPI_SUCCESS)
        return;
    if (bytes != sizeof notice || notice.magic != notice_magic || notice.dead_rank < 0 ||
        notice.dead_rank >= rank_count_)
        return;
    note(notice.dead_rank, fmt::format("{}, as rank {} of its host says",
                                       have_died({notice.dead_rank}), in_job(status.MPI_SOURCE)));
}

}  // namespace gradcoll
