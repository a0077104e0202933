// mover/analysis/timeline.cpp - see timeline.hpp.
#include "mover/analysis/timeline.hpp"

#include <algorithm>

namespace gradcoll::mover {

Result<Starts> timeline_of(const Program& program) {
    auto starts = run_in_order(
        program, [](std::size_t, std::size_t, Tick ready) { return std::optional(ready); });
    if (starts) return *std::move(starts);
    return Status(Code::invalid_argument, "the ranks wait for each other in a circle");
}

Tick end_of(const RankProgram& rank, const std::vector<Tick>& starts, std::int32_t op) {
    const auto n = static_cast<std::size_t>(op);
    return op < 0 ? 0 : starts[n] + rank.operators[n].duration;
}

Tick end_of(const Program& program, const Starts& starts) {
    Tick end = 0;
    for (std::size_t r = 0; r < starts.size(); ++r)
        if (!starts[r].empty())
            end = std::max(end, starts[r].back() + program.ranks[r].operators.back().duration);
    return end;
}

}  // namespace gradcoll::mover
