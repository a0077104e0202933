#include "attach/presence.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "attach/attachments.hpp"
#include "attach/presence_answer.hpp"
#include "attach/presence_sheet.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "comm/known_processes.hpp"
#include "comm/unused_codec.hpp"
#include "mpi/boundary.hpp"
#include "mpi/lifetime.hpp"

namespace gradcoll {

std::atomic<bool> ranks_are_to_meet{false};

namespace {

constexpr std::uint64_t one_second_ns = 1'000'000'000;
/// Ranks wait so long for the notes of others. If the notes were left before MPI_Init, which waits
/// for all ranks, they come soon; if not they may be late.
constexpr std::uint64_t note_patience_ns = one_second_ns;
constexpr std::uint64_t patience_without_init_ns = 10 * one_second_ns;
constexpr std::uint64_t silence_of_host_ns = 10 * one_second_ns;

struct PresenceCheck {
    PresenceAnswer answer;
    std::optional<JobOnHost> job;
    std::unique_ptr<PresenceSheet> sheet;  ///< null: this process left no note
    std::string why_no_sheet;
    bool before_mpi = false;
    std::atomic<void (*)()> notice{nullptr};

    bool is_one_host() const { return job && job->ranks == job->ranks_on_host; }
};

/// It is never destroyed: calls may still come while the process exits.
PresenceCheck& presence_check() {
    static PresenceCheck& only = *new PresenceCheck;
    return only;
}

/// A Standing is what the notes of this host say of some ranks of the job.
struct Standing {
    std::vector<int> absent;                   ///< ranks without a note
    std::vector<PresenceSheet::Note> present;  ///< notes in the order of the ranks
    std::optional<std::pair<std::size_t, std::size_t>> different;  ///< two places in `present`

    bool is_alike() const { return absent.empty() && !different; }
};

std::vector<PresenceSheet::Note> closed_notes(const PresenceCheck& call) {
    std::vector<PresenceSheet::Note> notes;
    if (call.sheet == nullptr) return notes;
    const int count =
        call.sheet->close(call.before_mpi ? note_patience_ns : patience_without_init_ns);
    for (int index = 0; index < count; ++index) notes.push_back(call.sheet->note(index));
    return notes;
}

/// Returns the notes of this host, which are the same for all from the first question on.
const std::vector<PresenceSheet::Note>& notes_of_host() {
    static const std::vector<PresenceSheet::Note>& notes =
        *new std::vector(closed_notes(presence_check()));
    return notes;
}

Standing standing_of(const std::vector<int>& ranks) {
    Standing standing;
    const auto& notes = notes_of_host();
    for (const int rank : ranks) {
        const auto found = std::find_if(notes.begin(), notes.end(),
                                        [&](const auto& note) { return note.rank == rank; });
        if (found == notes.end())
            standing.absent.push_back(rank);
        else
            standing.present.push_back(*found);
    }
    for (std::size_t i = 1; i < standing.present.size() && !standing.different; ++i)
        if (standing.present[i].hash != standing.present[0].hash) standing.different.emplace(0, i);
    return standing;
}

bool whole_host_is_alike() {
    static const bool alike = [] {
        std::vector<int> ranks;
        for (const auto& note : notes_of_host()) ranks.push_back(note.rank);
        return presence_check().sheet != nullptr && standing_of(ranks).is_alike() &&
               static_cast<int>(ranks.size()) == presence_check().job->ranks_on_host;
    }();
    return alike;
}

std::string reason_of(const Standing& standing) {
    if (presence_check().sheet == nullptr)
        return "this rank could not tell the others of itself: " + presence_check().why_no_sheet;
    if (standing.different) {
        const auto& one = standing.present[standing.different->first];
        const auto& other = standing.present[standing.different->second];
        return difference_of(one.rank, one.text, other.rank, other.text);
    }
    return fmt::format(
        "{} did not load the library, which is to be preloaded into all ranks or into none",
        ranks_text(standing.absent));
}

/// Says it aloud only on the rank that speaks, and there once.
void say_that_calls_pass(MPI_Comm comm, bool speaks, const std::string& reason) {
    static std::once_flag once;
    const std::string text = fmt::format("calls on communicator '{}' pass to the MPI library: {}",
                                         comm_name(comm), reason);
    bool is_first = false;
    if (speaks) std::call_once(once, [&] { is_first = true; });
    log(is_first ? LogLevel::warn : LogLevel::debug, "{}", text);
    codec_is_excused();
}

bool is_off(const PresenceSheet::Note& note) {
    return note.text.find("GC_ENABLE: off") != std::string_view::npos;
}

/// Returns whether this rank is the first of those that have the library and use it.
bool speaks_for(const Standing& standing) {
    for (const auto& note : standing.present)
        if (!is_off(note)) return note.rank == comm_rank(MPI_COMM_WORLD);
    return true;
}

bool settle_on_host(MPI_Comm comm, AttachAccount& account, const Standing& standing) {
    if (standing.is_alike()) {
        account.note_met();
        return true;
    }
    say_that_calls_pass(comm, speaks_for(standing), reason_of(standing));
    account.give_up(PassReason::ranks_differ);
    return false;
}

/// Leaves a communicator of two jobs to MPI: what a launcher hands to a job's ranks need not reach
/// those that they start, and nobody can look for the notes of another job. Returns false.
bool pass_with_another_job(MPI_Comm comm, AttachAccount& account) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    say_that_calls_pass(comm, rank == 0, "it has ranks of another job, which may lack the library");
    account.give_up(PassReason::ranks_differ);
    return false;
}

// ---- ranks of several hosts

/// MetGroups holds groups whose ranks have met, none of which has threads that make calls at the
/// same time: so all know of it before they make calls on communicators of fewer of them.
class MetGroups {
  public:
    bool include(std::vector<int> ranks) {
        std::sort(ranks.begin(), ranks.end());
        const std::scoped_lock lock(mutex_);
        return std::any_of(groups_.begin(), groups_.end(), [&](const auto& group) {
            return std::includes(group.begin(), group.end(), ranks.begin(), ranks.end());
        });
    }
    void add(std::vector<int> ranks) {
        constexpr std::size_t most = 64;
        std::sort(ranks.begin(), ranks.end());
        const std::scoped_lock lock(mutex_);
        if (groups_.size() < most) groups_.push_back(std::move(ranks));
    }

  private:
    std::mutex mutex_;
    std::vector<std::vector<int>> groups_;
};

MetGroups& met_groups() {
    static MetGroups& groups = *new MetGroups;
    return groups;
}

void warn_of_waiting(MPI_Comm comm, const Standing& standing) {
    const int rank = comm_rank(comm);
    const bool speaks = standing.present.empty() ? rank == 0 : speaks_for(standing);
    const int lacking =
        presence_check().sheet != nullptr
            ? presence_check().job->ranks_on_host - static_cast<int>(notes_of_host().size())
            : 0;
    log(speaks ? LogLevel::warn : LogLevel::debug,
        "communicator '{}': this host has waited 10 s for others to say that they have the library "
        "and the same settings. It is to be preloaded into all ranks or into none, on all hosts, "
        "and GC_ENABLE=off to be the same on all: ranks without it never answer{}",
        comm_name(comm),
        lacking > 0 ? fmt::format(" ({} on this host did not load it)", lacking) : "");
}

/// Waits for a nonblocking collective, which MPI never matches with a blocking one of the program:
/// a rank without the library makes the others wait here, not take its numbers for theirs.
Status wait_for_all(MPI_Request& request, MPI_Comm comm, const Standing& standing) {
    const std::uint64_t begin_ns = now_ns();
    bool has_warned = false;
    for (int is_over = 0; is_over == 0; sched_yield()) {
        GRADCOLL_TRY(from_mpi(PMPI_Test(&request, &is_over, MPI_STATUS_IGNORE), "MPI_Test"));
        if (has_warned || now_ns() - begin_ns < silence_of_host_ns) continue;
        has_warned = true;
        warn_of_waiting(comm, standing);
    }
    return {};
}

struct Meeting {
    bool alike = false;
    bool in_one_order = false;  ///< whether no rank has threads that make calls at the same time
};

Result<Meeting> ask_all(MPI_Comm comm, const Standing& standing) {
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    const std::uint64_t hash = presence_check().answer.hash;
    std::uint64_t least[] = {hash, ~hash, level == MPI_THREAD_MULTIPLE ? 0U : 1U};
    MPI_Request request = MPI_REQUEST_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Iallreduce(MPI_IN_PLACE, least, static_cast<int>(std::size(least)),
                                          MPI_UINT64_T, MPI_MIN, comm, &request),
                          "MPI_Iallreduce"));
    GRADCOLL_TRY(wait_for_all(request, comm, standing));
    return Meeting{least[0] == ~least[1], least[2] != 0};
}

void note_that_they_met(const std::vector<int>& ranks) {
    met_groups().add(ranks);
    if (static_cast<int>(ranks.size()) != comm_size(MPI_COMM_WORLD)) return;
    ranks_are_to_meet = false;
    if (void (*const notice)() = presence_check().notice; notice != nullptr) notice();
}

Status meet_on_hosts(MPI_Comm comm, AttachAccount& account, const std::vector<int>& ranks) {
    const Standing standing = standing_of(ranks);
    if (standing.absent.empty()) {
        settle_on_host(comm, account, standing);
        return {};
    }
    const auto met = ask_all(comm, standing);
    if (!met) return met.status();
    account.note_met();
    if (met->alike) {
        if (met->in_one_order) note_that_they_met(ranks);
        return {};
    }
    const Status difference = agree_on(comm, presence_check().answer.claims);
    const int rank = comm_rank(comm);
    say_that_calls_pass(comm, rank == 0, difference.message());
    account.give_up(PassReason::ranks_differ);
    return {};
}

Status try_to_meet(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL || rank_count_of(comm) <= 1) return {};
    const auto account = account_of(comm);
    if (!account) return account.status();
    if (*account == nullptr || (*account)->has_met() ||
        (*account)->pass_reason() == PassReason::ranks_differ)
        return {};
    const std::vector<int> ranks = world_ranks_of(comm);
    if (ranks.empty())
        pass_with_another_job(comm, **account);
    else if (met_groups().include(ranks))
        (*account)->note_met();
    if (ranks.empty() || (*account)->has_met()) return {};
    return meet_on_hosts(comm, **account, ranks);
}

}  // namespace

void answer_presence_check(bool enabled, bool before_mpi) {
    static std::once_flag once;
    std::call_once(once, [&] {
        PresenceCheck& call = presence_check();
        call.answer = presence_answer(enabled);
        call.job = job_on_host();
        call.before_mpi = before_mpi;
        if (!call.job || call.job->ranks == 1) return;
        auto sheet = PresenceSheet::open(*call.job);
        if (!sheet) {
            call.why_no_sheet = sheet.status().message();
            return;
        }
        call.sheet = std::move(sheet).value();
        call.sheet->write(call.job->rank, call.answer.hash, call.answer.text);
    });
}

void presence_check_has_begun() {
    const int ranks = comm_size(MPI_COMM_WORLD);
    ranks_are_to_meet = ranks > 1 && !presence_check().is_one_host();
    if (presence_check().sheet == nullptr) return;
    const Status status = at_finalize([] { presence_check().sheet->unlink(); });
    if (!status.ok()) log(LogLevel::debug, "presence check: {}", status.message());
}

bool all_answer_alike(MPI_Comm comm, AttachAccount& account) {
    if (account.has_met()) return true;
    if (account.pass_reason() == PassReason::ranks_differ) return false;
    const std::vector<int> ranks = world_ranks_of(comm);
    if (ranks.empty()) return pass_with_another_job(comm, account);
    if (!presence_check().is_one_host()) return !meetings_are_wanted();
    if (!whole_host_is_alike()) return settle_on_host(comm, account, standing_of(ranks));
    account.note_met();
    return true;
}

std::vector<int> places_of_meeting(const std::vector<int>& ranks) {
    if (!presence_check().is_one_host() || !whole_host_is_alike()) return {};
    const auto& notes = notes_of_host();
    std::vector<int> places;
    for (const int rank : ranks) {
        const auto found = std::find_if(notes.begin(), notes.end(),
                                        [&](const auto& note) { return note.rank == rank; });
        if (found == notes.end()) return {};
        places.push_back(static_cast<int>(found - notes.begin()));
    }
    return places;
}

bool meet_on_sheet(const std::vector<int>& places, std::size_t own, std::uint64_t key,
                   std::uint64_t patience_ns) {
    return presence_check().sheet->meet(places, own, key, patience_ns);
}

void meet_if_new(MPI_Comm comm) {
    if (!meetings_are_wanted()) return;
    if (const SeenComm seen = seen_comm(comm);
        seen.context != nullptr || (seen.account != nullptr && seen.account->has_met()))
        return;
    const Status status = try_to_meet(comm);
    if (!status.ok()) log(LogLevel::warn, "presence check: {}", status.message());
}

void when_all_have_met(void (*notice)()) {
    presence_check().notice = notice;
}

}  // namespace gradcoll
