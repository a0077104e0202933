// collectives/verify/ordering.cpp - checks that dependencies order conflicting accesses on one
// rank.
#include <fmt/format.h>

#include "collectives/plan/hazards.hpp"
#include "collectives/verify/ensemble.hpp"

namespace gradcoll::verification {
namespace {

/// Past says whether a step is complete whenever a later one starts, by looking back from the later
/// one. Nearly always the answer is one or two dependencies away, so looking is cheaper than
/// computing all of it beforehand. Memory: linear in steps.
class Past {
  public:
    explicit Past(const Schedule& schedule)
        : schedule_(schedule), seen_in_(schedule.steps.size(), 0) {}

    bool has(std::uint32_t step, std::uint32_t earlier) {
        ++search_;
        open_.assign(1, step);
        for (std::size_t next = 0; next < open_.size(); ++next) {
            const Step& at = schedule_.steps[open_[next]];
            for (std::uint32_t d = at.first_dep; d < at.first_dep + at.dep_count; ++d) {
                const std::uint32_t dep = schedule_.deps[d];
                if (dep == earlier) return true;
                if (dep < earlier || seen_in_[dep] == search_) continue;
                seen_in_[dep] = search_;
                open_.push_back(dep);
            }
        }
        return false;
    }

  private:
    const Schedule& schedule_;
    std::vector<std::uint64_t> seen_in_;  ///< by step: the last search that reached it
    std::vector<std::uint32_t> open_;
    std::uint64_t search_ = 0;
};

}  // namespace

Status check_ordering(const Solo& solo) {
    const Schedule& schedule = solo.schedule;
    const Geometry geometry = geometry_of(schedule, solo.spec);
    Past past(schedule);
    Hazards hazards;
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i)
        for (std::uint32_t earlier : hazards.record(i, footprint_of(schedule.steps[i], geometry)))
            if (!past.has(i, earlier))
                return broken(
                    solo.rank, i,
                    fmt::format("does not wait for step {}, which uses the same memory", earlier));
    return {};
}

}  // namespace gradcoll::verification
