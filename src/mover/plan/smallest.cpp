// mover/plan/smallest.cpp - see planner.hpp.
#include "mover/plan/planner.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "mover/analysis/memory.hpp"

namespace gradcoll::mover {
namespace {

struct Found {
    double slowdown = 0;
    std::int64_t counted = 0;
};

/// Slowdowns remembers the slowdown for each memory, so that each is planned once.
class Slowdowns {
  public:
    Slowdowns(const Program& program, const Rooms& rooms, const Policy& policy)
        : program_(program), rooms_(rooms), policy_(policy) {}

    /// Returns nothing if there is no plan.
    std::optional<Found> at(std::int64_t device_bytes) {
        const auto known = known_.find(device_bytes);
        if (known != known_.end()) return known->second;
        for (RankRoom& room : rooms_.ranks) room.device_bytes = device_bytes;
        const auto step = plan_by(program_, rooms_, policy_);
        std::optional<Found> found;
        if (step.ok()) found = Found{step->slowdown(), step->counted};
        return known_.emplace(device_bytes, found).first->second;
    }

  private:
    const Program& program_;
    Rooms rooms_;
    const Policy& policy_;
    std::map<std::int64_t, std::optional<Found>> known_;
};

std::int64_t peak_of_all(const Program& program) {
    std::int64_t peak = 1;
    for (const RankProgram& rank : program.ranks)
        peak = std::max(peak, peak_of(memory_of(rank)).bytes);
    return peak;
}

}  // namespace

std::vector<SmallestMemory> smallest_memory(const Program& program, const Rooms& rooms,
                                            const Policy& policy, std::span<const double> slowdowns,
                                            const std::function<void(double)>& halved) {
    const std::int64_t peak = peak_of_all(program);
    const std::int64_t near_enough = std::max<std::int64_t>(1, peak / 200);
    Slowdowns found(program, rooms, policy);
    double halvings = 0;
    for (std::int64_t left = peak; left > near_enough; left = divided_up(left, 2)) ++halvings;
    const double part = 1 / (std::max(halvings, 1.0) * static_cast<double>(slowdowns.size()));
    std::vector<SmallestMemory> out;
    for (const double most : slowdowns) {
        std::int64_t enough = peak, too_little = 0;
        while (enough - too_little > near_enough) {
            const std::int64_t middle = too_little + (enough - too_little) / 2;
            const auto there = found.at(middle);
            (there && there->slowdown <= most ? enough : too_little) = middle;
            if (halved) halved(part);
        }
        const Found there = found.at(enough).value_or(Found{});
        out.push_back({most, enough, there.slowdown, there.counted});
    }
    return out;
}

}  // namespace gradcoll::mover
