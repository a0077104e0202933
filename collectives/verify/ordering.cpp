// collectives/verify/ordering.cpp - conflicting accesses on one rank are ordered by dependencies.
#include <fmt/format.h>

#include "collectives/hazards.hpp"
#include "collectives/verify/ensemble.hpp"

namespace gradcoll::verification {
namespace {

/// Which steps are complete whenever a given one starts.
class Ancestors {
  public:
    explicit Ancestors(const Schedule& schedule) : words_((schedule.steps.size() + 63) / 64) {
        for (const Step& step : schedule.steps) {
            std::vector<std::uint64_t> bits(words_, 0);
            for (std::uint32_t i = 0; i < step.dep_count; ++i) {
                const std::uint32_t dep = schedule.deps[step.first_dep + i];
                for (std::size_t w = 0; w < words_; ++w) bits[w] |= of_[dep][w];
                bits[dep / 64] |= std::uint64_t{1} << (dep % 64);
            }
            of_.push_back(std::move(bits));
        }
    }

    bool has(std::uint32_t step, std::uint32_t ancestor) const {
        return (of_[step][ancestor / 64] >> (ancestor % 64) & 1) != 0;
    }

  private:
    std::size_t words_;
    std::vector<std::vector<std::uint64_t>> of_;
};

}  // namespace

Status check_ordering(const Ensemble& all) {
    for (int rank = 0; rank < all.rank_count; ++rank) {
        const Schedule& schedule = all.schedule(rank);
        const Geometry geometry = geometry_of(schedule, all.spec);
        const Ancestors ancestors(schedule);
        Hazards hazards;
        for (std::uint32_t i = 0; i < schedule.steps.size(); ++i)
            for (std::uint32_t earlier :
                 hazards.record(i, footprint_of(schedule.steps[i], geometry)))
                if (!ancestors.has(i, earlier))
                    return broken(
                        rank, i,
                        fmt::format("does not wait for step {}, which uses the same memory",
                                    earlier));
    }
    return {};
}

}  // namespace gradcoll::verification
