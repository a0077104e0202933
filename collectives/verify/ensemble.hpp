// collectives/verify/ensemble.hpp - one chunk's schedules of all ranks side by side, and the checks
// on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "collectives/plan/hazards.hpp"
#include "collectives/plan/plan.hpp"

namespace gradcoll::verification {

/// A Solo is one rank's schedule of one chunk.
struct Solo {
    const PlanSpec& spec;
    int rank_count = 1;
    std::uint32_t stage_count = 0;
    int rank = 0;
    const Schedule& schedule;
};

struct Ensemble {
    const PlanSpec& spec;
    int rank_count = 1;
    std::uint32_t stage_count = 0;
    std::int64_t loss_parts = 0;             ///< LossParts::together
    std::vector<const Schedule*> schedules;  ///< by rank

    const Schedule& schedule(int rank) const { return *schedules[static_cast<std::size_t>(rank)]; }
    const Step& step(int rank, std::uint32_t index) const { return schedule(rank).steps[index]; }
    std::int64_t count_elems() const { return schedules.front()->count_elems; }
};

/// An Event is something that happens at once: a local step, or a message with its send and its
/// recv.
struct Event {
    int rank = -1;
    std::uint32_t step = 0;  ///< a send if `to_rank` is set
    int to_rank = -1;
    std::uint32_t to_step = 0;
};

/// Returns an internal error such as "rank 3 step 7: ...".
Status broken(int rank, std::uint32_t step, const std::string& what);

/// Checks that every step is well formed: places, ranges, slots, peers, stages, dependencies.
Status check_structure(const Solo& solo);

/// Checks that dependencies order all steps that touch the same memory (one of them writing). Needs
/// a schedule that check_structure() accepts.
Status check_ordering(const Solo& solo);

/// Returns how a send and a receive of one message differ in bytes, codec or elements; "" if they
/// match.
std::string mismatch_of(const Step& send, const Schedule& sender, int sending_rank,
                        const Step& recv, const Schedule& receiver, std::uint32_t elem_bytes);

/// Pairs sends with receives and finds an order in which everything can happen although no message
/// is sent before its receive is ready: if there is one, no order of arrival can lead to a
/// deadlock. Errors: a message without its other side or unlike it, a cycle.
Result<std::vector<Event>> match_and_order(const Ensemble& all);

/// Follows who has contributed to what, event by event, and checks what the outputs hold at the
/// end.
Status check_contributions(const Ensemble& all, const std::vector<Event>& events);

}  // namespace gradcoll::verification
