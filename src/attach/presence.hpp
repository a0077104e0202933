// attach/presence.hpp - whether all ranks of an unchanged program's communicator have this
// library, and the same settings: asked before anything is done for which all of them must come,
// and in a way that a rank without the library does not keep the others waiting
// (docs/decisions/033-ranks-that-disagree.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "attach/attach_account.hpp"

namespace gradcoll {

/// Leaves a note on this process in the memory of the host, once. This is the first thing that the
/// interposer does, at best before MPI_Init, in which ranks wait for each other. `enabled` is
/// GC_ENABLE.
void answer_presence_check(bool enabled, bool before_mpi);
/// Begins the presence check after MPI_Init. What is left of it goes with MPI_Finalize.
void presence_check_has_begun();

/// Returns whether all ranks of the communicator answered alike; if not, its calls pass for good
/// (PassReason::ranks_differ), and one rank says why, once a job. If all ranks of the job share a
/// host this is local, but for a second that one which does not answer is waited for, once.
/// Elsewhere it returns false until they have met.
bool all_answer_alike(MPI_Comm comm, AttachAccount& account);

/// Returns where on the sheet of the host these ranks of the job are; nothing unless all ranks of
/// the job share a host and answered alike, which all know.
std::vector<int> places_of_meeting(const std::vector<int>& ranks);
/// Does what PresenceSheet::meet() does, at places of the sheet.
bool meet_on_sheet(const std::vector<int>& places, std::size_t own, std::uint64_t key,
                   std::uint64_t patience_ns);

extern std::atomic<bool> ranks_are_to_meet;
/// Makes ranks of a communicator that nobody has asked about ask each other, in a job of several
/// hosts: at its first blocking call that no rank leaves before all have come (whatever its length,
/// and whoever serves it). Elsewhere it does nothing. Collective, with whoever has the library.
void meet_if_new(MPI_Comm comm);
inline bool meetings_are_wanted() {
    return ranks_are_to_meet.load(std::memory_order_relaxed);
}
/// Calls `notice` once all ranks of the job have met: then nobody asks any more.
void when_all_have_met(void (*notice)());

}  // namespace gradcoll
