// mover/plan/smallest.cpp - see smallest.hpp.
#include "mover/plan/smallest.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "mover/analysis/memory.hpp"

namespace gradcoll::mover {
namespace {

/// Slowdowns by memory, each planned once.
class Slowdowns {
  public:
    Slowdowns(const Program& program, const Rooms& rooms, const MovableKinds& kinds)
        : program_(program), rooms_(rooms), kinds_(kinds) {}

    /// Nothing if there is no plan.
    std::optional<double> at(std::int64_t device_bytes) {
        const auto known = known_.find(device_bytes);
        if (known != known_.end()) return known->second;
        for (RankRoom& room : rooms_.ranks) room.device_bytes = device_bytes;
        const auto step = plan_moves(program_, rooms_, kinds_);
        std::optional<double> slowdown;
        if (step.ok()) slowdown = step->slowdown();
        return known_.emplace(device_bytes, slowdown).first->second;
    }

  private:
    const Program& program_;
    Rooms rooms_;
    const MovableKinds& kinds_;
    std::map<std::int64_t, std::optional<double>> known_;
};

std::int64_t peak_of_all(const Program& program) {
    std::int64_t peak = 1;
    for (const RankProgram& rank : program.ranks)
        peak = std::max(peak, peak_of(memory_of(rank)).bytes);
    return peak;
}

}  // namespace

std::vector<SmallestMemory> smallest_memory(const Program& program, const Rooms& rooms,
                                            const MovableKinds& kinds,
                                            std::span<const double> slowdowns) {
    const std::int64_t peak = peak_of_all(program);
    const std::int64_t near_enough = std::max<std::int64_t>(1, peak / 200);
    Slowdowns found(program, rooms, kinds);
    std::vector<SmallestMemory> out;
    for (const double most : slowdowns) {
        std::int64_t enough = peak, too_little = 0;
        while (enough - too_little > near_enough) {
            const std::int64_t middle = too_little + (enough - too_little) / 2;
            const auto slowdown = found.at(middle);
            (slowdown && *slowdown <= most ? enough : too_little) = middle;
        }
        out.push_back({most, enough, found.at(enough).value_or(0)});
    }
    return out;
}

}  // namespace gradcoll::mover
