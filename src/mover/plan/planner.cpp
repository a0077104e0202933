// mover/plan/planner.cpp - see planner.hpp.
#include "mover/plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "mover/analysis/memory.hpp"
#include "mover/analysis/timeline.hpp"
#include "mover/plan/bundles.hpp"
#include "mover/plan/carry_out.hpp"
#include "mover/plan/planner_parts.hpp"

namespace gradcoll::mover {
namespace {

using Choices = std::vector<RankChoice>;

/// Returns the gaps of all ranks.
std::vector<std::vector<Gap>> all_gaps(const Program& program, const Rooms& rooms,
                                       const MovableKinds& kinds) {
    std::vector<std::vector<Gap>> gaps;
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        gaps.push_back(gaps_of(program.ranks[r], rooms.ranks[r].lane, kinds));
    return gaps;
}

Choices counted_choices(const Program& program, const std::vector<std::vector<Gap>>& gaps,
                        Rule rule, std::int64_t count) {
    Choices choices;
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        choices.push_back(count_layers(rule, program.ranks[r], gaps[r], count));
    return choices;
}

/// Returns by how many bytes the pools of the fullest host are larger than it allows, and what they
/// take there; negative: they fit.
std::pair<std::int64_t, std::int64_t> beyond_host(const Rooms& rooms, const MovePlan& plan) {
    std::pair<std::int64_t, std::int64_t> worst{std::numeric_limits<std::int64_t>::min(), 0};
    for (const Sharing& host : rooms.hosts) {
        const std::int64_t pinned = pinned_in(host, plan);
        worst = std::max(worst, {pinned - host.most, pinned});
    }
    return worst;
}

/// A Carrier carries choices out, for a step or for its bundles. It refers to its arguments.
class Carrier {
  public:
    /// Tensors move by themselves if there are no bundles.
    Carrier(const Program& step, const Rooms& rooms, const Bundles* bundles = nullptr)
        : step_(step),
          rooms_(rooms),
          bundles_(bundles),
          program_(bundles != nullptr ? bundles->program() : step),
          carry_out_(program_, rooms) {}

    const Rooms& rooms() const { return rooms_; }
    /// Returns what choices are made of.
    const Program& program() const { return program_; }
    const CarryOut& carry_out() const { return carry_out_; }

    /// Returns the plan of the step.
    Result<MovePlan> laid_out(const Choices& choices) const {
        MovePlan plan = GRADCOLL_VALUE(carry_out_.plan(choices));
        if (bundles_ != nullptr) plan = bundles_->unbundled(plan, rooms_);
        for (std::size_t r = 0; r < step_.ranks.size(); ++r)
            lay_out_pool(step_.ranks[r], plan.ranks[r]);
        return plan;
    }

    /// Returns whether the hosts have room for all that moves, even if it were there at once.
    bool surely_fits_hosts(const Choices& choices) const {
        MovePlan all;
        for (std::size_t r = 0; r < choices.size(); ++r) {
            std::int64_t& bytes = all.ranks.emplace_back().pool_bytes;
            for (const ChosenMove& move : choices[r])
                if (move.gap.transfers())
                    bytes += bytes_in_pool(move.gap.bytes,
                                           program_.ranks[r]
                                               .tensors[static_cast<std::size_t>(move.gap.tensor)]
                                               .pieces);
        }
        return beyond_host(rooms_, all).first <= 0;
    }

  private:
    const Program& step_;
    const Rooms& rooms_;
    const Bundles* bundles_;
    const Program& program_;
    CarryOut carry_out_;
};

/// Best keeps the shortest step of all choices that devices and hosts have room for.
class Best {
  public:
    bool found() const { return step_ != none; }
    Tick step() const { return step_; }
    std::int64_t counted() const { return counted_; }

    /// The carrier must outlive this object.
    void consider(const Carrier& carrier, Choices choices, std::int64_t counted = 0) {
        const auto step = carrier.carry_out().step(choices, step_);
        if (!step || !fits_hosts(carrier, choices)) return;
        step_ = *step;
        carrier_ = &carrier;
        choices_ = std::move(choices);
        counted_ = counted;
    }

    /// Errors: out_of_memory if nothing was found.
    Result<MovePlan> plan() const {
        if (found()) return carrier_->laid_out(choices_);
        if (least_pinned_ == none)
            return Status(Code::out_of_memory, "no moves make enough room in the devices");
        return Status(Code::out_of_memory,
                      fmt::format("host_memory: what moves takes at least {} bytes of a host, it "
                                  "has {}",
                                  least_pinned_, least_pinned_ - least_beyond_));
    }

  private:
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

    bool fits_hosts(const Carrier& carrier, const Choices& choices) {
        if (carrier.surely_fits_hosts(choices)) return true;
        const auto plan = carrier.laid_out(choices);
        if (!plan.ok()) return false;
        const auto [beyond, pinned] = beyond_host(carrier.rooms(), *plan);
        if (beyond > 0 && beyond < least_beyond_) {
            least_beyond_ = beyond;
            least_pinned_ = pinned;
        }
        return beyond <= 0;
    }

    Tick step_ = none;
    const Carrier* carrier_ = nullptr;
    Choices choices_;
    std::int64_t counted_ = 0;
    std::int64_t least_beyond_ = none, least_pinned_ = none;
};

/// Tries at most `tries` counts, spread evenly.
void consider_counts(const Carrier& carrier, const MovableKinds& kinds, Rule rule,
                     std::int64_t tries, Best& best) {
    const Program& program = carrier.program();
    const auto gaps = all_gaps(program, carrier.rooms(), kinds);
    const std::int64_t most = most_counted(rule, program);
    for (std::int64_t count = 0; count <= most; count += divided_up(most + 1, tries))
        best.consider(carrier, counted_choices(program, gaps, rule, count), count);
}

Result<PlannedStep> planned(const Best& best, Tick unmoved, Tick shortest) {
    PlannedStep step;
    step.plan = GRADCOLL_VALUE(best.plan());
    step.unmoved_ticks = unmoved;
    step.shortest_ticks = shortest;
    return step;
}

Result<PlannedStep> plan_counted(const Program& program, const Rooms& rooms, const Policy& policy) {
    const Starts starts = GRADCOLL_VALUE(timeline_of(program));
    const Carrier carrier(program, rooms);
    Best best;
    const Tick shortest = shortest_step(program, rooms, policy.kinds);
    if (policy.count == Policy::best_count) {
        consider_counts(carrier, policy.kinds, policy.rule,
                        std::numeric_limits<std::int64_t>::max(), best);
    } else {
        const Choices choices = counted_choices(program, all_gaps(program, rooms, policy.kinds),
                                                policy.rule, policy.count);
        GRADCOLL_TRY(carrier.carry_out().plan(choices).status());
        best.consider(carrier, choices, policy.count);
    }
    PlannedStep step = GRADCOLL_VALUE(planned(best, end_of(program, starts), shortest));
    step.counted = best.counted();
    return step;
}

/// Returns the sizes of memory for which a family has choices, which follow from the step alone:
/// what ladders need, closer to each other where nearly all fits.
std::vector<std::int64_t> rungs_of(const std::vector<Ladder>& ladders, std::size_t count) {
    std::int64_t all = 0, top = 0, least = 0;
    for (const Ladder& ladder : ladders) {
        all = std::max(all, ladder.unmoved());
        top = std::max(top, ladder.needs().front());
        least = std::max(least, ladder.least());
    }
    // Where all fits, what must move comes back at once.
    std::vector<std::int64_t> rungs{all};
    for (std::size_t n = 0; n <= count; ++n) {
        const double part = static_cast<double>(n) / static_cast<double>(count);
        const auto size =
            n == count
                ? least
                : top - static_cast<std::int64_t>(static_cast<double>(top - least) * part * part);
        std::int64_t need = 0;
        for (const Ladder& ladder : ladders) need = std::max(need, ladder.need_within(size));
        if (rungs.back() != need) rungs.push_back(need);
    }
    return rungs;
}

/// Returns sizes of memory from what the step needs without moves to the least, in `count` equal
/// steps.
std::vector<std::int64_t> many_sizes(const std::vector<Ladder>& ladders, std::int64_t count) {
    std::int64_t all = 0, least = 0;
    for (const Ladder& ladder : ladders) {
        all = std::max(all, ladder.unmoved());
        least = std::max(least, ladder.least());
    }
    std::vector<std::int64_t> sizes;
    for (std::int64_t n = 0; n <= count; ++n) sizes.push_back(all - (all - least) * n / count);
    return sizes;
}

/// Unmoved is the step without moves.
struct Unmoved {
    Starts starts;
    std::vector<HeldMemory> held{};  ///< by rank
};

/// Tries the choices of a family that need no more than the smallest device has.
void consider_family(const Carrier& carrier, const Unmoved& unmoved, const ChoiceFamily& family,
                     const Effort& effort, Best& best) {
    const Program& program = carrier.program();
    const Rooms& rooms = carrier.rooms();
    std::vector<Ladder> ladders;
    ladders.reserve(program.ranks.size());
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        ladders.emplace_back(program.ranks[r], unmoved.starts[r], unmoved.held[r],
                             gaps_of(program.ranks[r], rooms.ranks[r].lane, family),
                             family.pattern);
        room = std::min(room, rooms.ranks[r].device_bytes);
        if (ladders.back().least() > room) return;
    }
    const auto sizes = family.pattern.sizes == Sizes::rungs ? rungs_of(ladders, effort.rungs)
                                                            : many_sizes(ladders, effort.sizes);
    for (const std::int64_t bytes : sizes) {
        if (bytes > room) continue;
        Choices choices;
        for (const Ladder& ladder : ladders) choices.push_back(ladder.choice_for(bytes));
        best.consider(carrier, std::move(choices));
    }
}

/// Checks that each rank has room for what cannot be away.
Status check_possible(const Program& program, const Rooms& rooms, const MovableKinds& kinds) {
    const ChoiceFamily all_at_home{.kinds = kinds, .at_home = 1, .pattern = {}};
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram& rank = program.ranks[r];
        HeldMemory held(held_by_operator(rank));
        for (const Gap& gap : gaps_of(rank, rooms.ranks[r].lane, all_at_home))
            held.add(slot_after(gap.after), static_cast<std::size_t>(gap.need), -gap.bytes);
        for (std::size_t op = 0; op < held.count(); ++op)
            if (held.at(op) > rooms.ranks[r].device_bytes)
                return {Code::out_of_memory,
                        fmt::format("rank {}: operator {} needs {} bytes with all away that may "
                                    "be, {} are allowed",
                                    r, op, held.at(op), rooms.ranks[r].device_bytes)};
    }
    return {};
}

}  // namespace

Result<PlannedStep> plan_moves(const Program& program, const Rooms& rooms,
                               const MovableKinds& kinds) {
    return plan_moves(program, rooms, kinds, effort_for(program));
}

Result<PlannedStep> plan_moves(const Program& program, const Rooms& rooms,
                               const MovableKinds& kinds, const Effort& effort) {
    std::optional<Bundles> bundles;
    if (effort.moves_bundles) bundles.emplace(program, kinds.least_bytes);
    const Carrier carrier(program, rooms, bundles ? &*bundles : nullptr);
    const Program& carried = carrier.program();
    Unmoved unmoved{GRADCOLL_VALUE(timeline_of(carried))};
    GRADCOLL_TRY(check_possible(carried, rooms, kinds));
    for (const RankProgram& rank : carried.ranks) unmoved.held.emplace_back(held_by_operator(rank));
    Best best;
    const Tick shortest = shortest_step(carried, rooms, kinds);
    for (const ChoiceFamily& family : families_of(carried, kinds, effort)) {
        if (best.step() <= shortest) break;
        consider_family(carrier, unmoved, family, effort, best);
    }
    std::optional<Carrier> by_tensor;  // the rules count tensors, not bundles
    if (kinds.activations && best.step() > shortest) {
        if (bundles) by_tensor.emplace(program, rooms);
        for (const Rule rule : rules_that_count)
            if (best.step() > shortest)
                consider_counts(by_tensor ? *by_tensor : carrier, kinds, rule, effort.counts, best);
    }
    return planned(best, end_of(carried, unmoved.starts), shortest);
}

Result<PlannedStep> plan_by(const Program& program, const Rooms& rooms, const Policy& policy) {
    return policy.rule == Rule::ours ? plan_moves(program, rooms, policy.kinds)
                                     : plan_counted(program, rooms, policy);
}

}  // namespace gradcoll::mover
