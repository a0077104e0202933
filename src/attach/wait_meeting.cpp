#include "attach/wait_meeting.hpp"

#include <atomic>
#include <mutex>
#include <utility>

#include "attach/presence.hpp"
#include "base/clock.hpp"
#include "base/hash.hpp"
#include "comm/known_processes.hpp"
#include "comm/started_calls.hpp"

namespace gradcoll {
namespace {

/// Whoever waits at a meeting sees the end of its own requests so much later.
constexpr std::uint64_t meeting_patience_ns = 20'000;
/// Ranks that wait at different times never meet. These bound what a communicator loses: 16 ms. A
/// try that comes so soon after another is of the same wait, which is not over: it loses nothing.
constexpr std::uint64_t same_wait_ns = 5'000;
constexpr int most_tries_a_call = 8;
constexpr int most_calls = 100;
/// A communicator without a call for so many looks is not waited for any more.
constexpr int most_idle_looks = 10'000;

std::mutex wanted_mutex;
std::vector<std::weak_ptr<WaitMeeting>> wanted;  // guarded by wanted_mutex

void want(const std::shared_ptr<WaitMeeting>& meeting) {
    const std::scoped_lock lock(wanted_mutex);
    wanted.push_back(meeting);
    waits_may_do_more(true);
}

/// Returns the wanted meetings; if there are none, nobody is asked any more.
std::vector<std::shared_ptr<WaitMeeting>> all_wanted() {
    const std::scoped_lock lock(wanted_mutex);
    std::erase_if(wanted, [](const std::weak_ptr<WaitMeeting>& one) {
        const auto meeting = one.lock();
        return meeting == nullptr || meeting->is_given_up();
    });
    if (wanted.empty()) waits_may_do_more(false);
    std::vector<std::shared_ptr<WaitMeeting>> all;
    for (const auto& one : wanted)
        if (auto meeting = one.lock()) all.push_back(std::move(meeting));
    return all;
}

/// With MPI_THREAD_MULTIPLE other threads could make calls on the communicator at the same time.
bool one_thread_at_a_time() {
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE;
}

std::uint64_t next_number(int world_rank) {
    static std::atomic<std::uint64_t> count = 0;
    return static_cast<std::uint64_t>(world_rank) << 32U | ++count;
}

}  // namespace

WaitMeeting::WaitMeeting(MPI_Comm comm, AttachAccount& account, WhenMet when_met)
    : comm_(comm), account_(account), when_met_(when_met) {}

WaitMeeting::~WaitMeeting() {
    if (request_ != MPI_REQUEST_NULL) PMPI_Wait(&request_, MPI_STATUS_IGNORE);
}

void WaitMeeting::begin(MPI_Comm comm, AttachAccount& account, WhenMet when_met) {
    const std::vector<int> ranks = world_ranks_of(comm);
    std::vector<int> places = places_of_meeting(ranks);
    if (places.empty()) return account.want_meeting(nullptr);
    std::shared_ptr<WaitMeeting> meeting(new WaitMeeting(comm, account, when_met));
    const int rank = comm_rank(comm);
    meeting->own_rank_ = static_cast<std::size_t>(rank);
    meeting->places_ = std::move(places);
    if (rank == 0) meeting->number_ = next_number(ranks.front());
    account.want_meeting(meeting);
    if (PMPI_Ibcast(&meeting->number_, 1, MPI_UINT64_T, 0, comm, &meeting->request_) != MPI_SUCCESS)
        return;
    if (one_thread_at_a_time()) want(meeting);
}

std::uint64_t WaitMeeting::number() {
    int is_here = 1;
    if (request_ != MPI_REQUEST_NULL) PMPI_Test(&request_, &is_here, MPI_STATUS_IGNORE);
    const bool has_tried_enough =
        account_.calls_of_meeting() == last_calls_ && tries_of_call_ > most_tries_a_call;
    if (has_tried_enough) ++idle_looks_;
    return is_here != 0 && !has_tried_enough ? number_ : not_known;
}

bool WaitMeeting::is_given_up() const {
    return calls_tried_ > most_calls || idle_looks_ > most_idle_looks;
}

void WaitMeeting::try_once() {
    const std::uint64_t calls = account_.calls_of_meeting();
    if (std::exchange(last_calls_, calls) != calls) {
        ++calls_tried_;
        tries_of_call_ = 0;
        idle_looks_ = 0;
    }
    if (now_ns() - last_try_ns_ > same_wait_ns) ++tries_of_call_;
    // Ranks with unlike numbers of calls do not meet, as the next would not be the same for all.
    const std::uint64_t key = Hash().value(number_).value(calls).digest();
    if (meet_on_sheet(places_, own_rank_, key, meeting_patience_ns)) when_met_(comm_, account_);
    last_try_ns_ = now_ns();
}

bool meet_while_waiting() {
    if (!waits_do_more()) return false;
    const auto all = all_wanted();
    // Ranks may want several, in different orders: all try the one with the least number.
    std::shared_ptr<WaitMeeting> next;
    std::uint64_t least = WaitMeeting::not_known;
    for (const auto& meeting : all)
        if (const std::uint64_t number = meeting->number(); number < least) {
            least = number;
            next = meeting;
        }
    if (next != nullptr) next->try_once();
    return !all.empty();
}

}  // namespace gradcoll
