// mover/plan/choice_families.cpp - see planner_parts.hpp.
#include "mover/plan/planner_parts.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace gradcoll::mover {
namespace {

/// In 65 steps of five models, with nine orders and six margins, the first and the third together
/// came within 0.2 % of the best of all. The second reaches the least memory that there is.
constexpr std::array patterns = {
    Pattern{Prefer::longest, 1, 1},          Pattern{Prefer::longest, 0, 0},
    Pattern{Prefer::longest_per_byte, 2, 2}, Pattern{Prefer::oldest, 1, 1},
    Pattern{Prefer::longest, 4, 4},          Pattern{Prefer::longest_per_byte, 8, 8},
    Pattern{Prefer::oldest, 4, 4},           Pattern{Prefer::longest_per_byte, 32, 32}};

/// Parameters and gradients are used early in a step.
constexpr std::array patterns_ahead = {Pattern{.gone = 1, .back = 1, .ahead = true},
                                       Pattern{.gone = 0, .back = 0, .ahead = true}};

/// Small steps have few tensors, so that one of them matters.
constexpr std::array patterns_of_sizes = {Pattern{.sizes = Sizes::fitted},
                                          Pattern{.back = 1, .sizes = Sizes::many}};

/// Returns a selection of `kinds`: bit 0 stands for activations, 1 for the optimizer's states, 2
/// for gradients, 3 for parameters.
MovableKinds selection_of(const MovableKinds& kinds, unsigned bits) {
    MovableKinds out = kinds;
    out.activations = (bits & 1U) != 0;
    out.optimizer = (bits & 2U) != 0;
    out.gradients = (bits & 4U) != 0;
    out.parameters = (bits & 8U) != 0;
    return out;
}

bool has_all(const MovableKinds& kinds, const MovableKinds& selection) {
    return (kinds.activations || !selection.activations) &&
           (kinds.optimizer || !selection.optimizer) && (kinds.gradients || !selection.gradients) &&
           (kinds.parameters || !selection.parameters);
}

/// Returns the most model states of these kinds that any rank has.
std::size_t most_states(const Program& program, const MovableKinds& kinds) {
    std::ptrdiff_t most = 0;
    for (const RankProgram& rank : program.ranks)
        most = std::max(most, std::count_if(rank.tensors.begin(), rank.tensors.end(),
                                            [&](const DeviceTensor& tensor) {
                                                return tensor.stays && kinds.allows(tensor);
                                            }));
    return static_cast<std::size_t>(most);
}

/// Adds families by these patterns.
void add_families(const MovableKinds& kinds, std::size_t shares, std::span<const Pattern> tried,
                  std::vector<ChoiceFamily>& out) {
    for (std::size_t at_home = 0; at_home <= shares; ++at_home)
        for (std::size_t leaving = 0; leaving <= shares - at_home; ++leaving) {
            if (shares > 0 && at_home + leaving == 0) continue;
            for (const Pattern& pattern : tried)
                if (at_home > 0 || !pattern.ahead)
                    out.push_back(
                        {kinds, at_home, leaving, std::max<std::size_t>(shares, 1), pattern});
        }
}

std::size_t share_of(std::size_t count, std::size_t share, std::size_t shares) {
    return divided_up(static_cast<std::int64_t>(count * share), static_cast<std::int64_t>(shares));
}

}  // namespace

Effort Effort::for_long_steps(std::size_t operators) {
    return {.shares = 1,
            .rungs = std::clamp<std::size_t>(4'000'000 / operators, 4, 64),
            .sizes = 0,
            .counts = 8,
            .moves_bundles = true};
}

Effort effort_for(const Program& program) {
    std::size_t operators = 0;
    std::int64_t tensors = 1;
    for (const RankProgram& rank : program.ranks) {
        operators += rank.operators.size();
        tensors += static_cast<std::int64_t>(rank.tensors.size());
    }
    if (operators > 10'000) return Effort::for_long_steps(operators);
    // Where there are many tensors, one more or less hardly matters.
    Effort effort;
    const std::int64_t sizes = 65'536 / tensors;
    effort.sizes = sizes < 64 ? 0 : std::min(effort.sizes, sizes);
    return effort;
}

std::vector<ChoiceFamily> families_of(const Program& program, const MovableKinds& kinds,
                                      const Effort& effort) {
    constexpr unsigned activations = 1, optimizer = 2;
    // The optimizer's states come first: they are idle for most of a step, so that few moves do.
    constexpr std::array<unsigned, 15> order = {2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    std::vector<ChoiceFamily> out{{selection_of(kinds, 0), 0, 0, 1, {}}};
    for (const unsigned bits : order) {
        const MovableKinds selection = selection_of(kinds, bits);
        if (!has_all(kinds, selection)) continue;
        const std::size_t states = most_states(program, selection);
        if (states == 0 && bits != activations) continue;
        const auto add = [&](std::size_t most_shares, std::span<const Pattern> by) {
            add_families(selection, std::min(most_shares, states), by, out);
        };
        const std::span<const Pattern> all = patterns;
        const std::span<const Pattern> by_size =
            std::span(patterns_of_sizes).first(effort.sizes > 0 ? patterns_of_sizes.size() : 0);
        if (bits == activations) {
            add(0, all);
            add(0, by_size);
        } else if (bits == optimizer) {
            add(2 * effort.shares, all.first(3));
        } else if (bits == (activations | optimizer)) {
            add(effort.shares, all.first(6));
            add(effort.shares, by_size);
        } else {  // gradients and parameters are used all the time and seldom help
            add(std::min<std::size_t>(effort.shares, 2), all.first(3));
            add(std::min<std::size_t>(effort.shares, 2), patterns_ahead);
        }
    }
    return out;
}

std::vector<Gap> gaps_of(const RankProgram& rank, const Lane& lane, const ChoiceFamily& family) {
    const Homes states = may_live_in_host(rank, family.kinds);
    const std::size_t home = share_of(states.size(), family.at_home, family.shares);
    const std::size_t leaving = share_of(states.size(), family.leaving, family.shares);
    // States that are used first live in the host: they go home while others are still at work.
    // States that are used last leave for a while: they are away longest.
    Homes homes(states.begin(), states.begin() + static_cast<std::ptrdiff_t>(home));
    Homes leave(states.end() - static_cast<std::ptrdiff_t>(std::min(leaving, states.size() - home)),
                states.end());
    std::sort(homes.begin(), homes.end());
    std::sort(leave.begin(), leave.end());
    std::vector<Gap> gaps = gaps_of(rank, lane, family.kinds, homes);
    const auto is_in = [](const Homes& some, std::int32_t tensor) {
        return std::binary_search(some.begin(), some.end(), tensor);
    };
    // What is summed in the host does not live there, and may leave in any case.
    std::erase_if(gaps, [&](const Gap& gap) {
        const DeviceTensor& tensor = rank.tensors[static_cast<std::size_t>(gap.tensor)];
        return !gap.must() && tensor.stays && tensor.host_use < 0 && !is_in(homes, gap.tensor) &&
               !is_in(leave, gap.tensor);
    });
    return gaps;
}

}  // namespace gradcoll::mover
