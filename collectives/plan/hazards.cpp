// collectives/plan/hazards.cpp - finds dependencies from memory footprints.
#include "collectives/plan/hazards.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace gradcoll {

Hazards::Hazards() {
    for (Uses& uses : areas_) uses.emplace(std::numeric_limits<std::int64_t>::min(), Use{});
}

std::vector<std::uint32_t> Hazards::record(std::uint32_t step, const Footprint& footprint) {
    std::vector<std::uint32_t> deps;
    for (const Access& access : footprint) {
        if (access.extent.empty()) continue;
        Uses& uses = areas_[static_cast<std::size_t>(access.area)];
        const auto begin = cut(uses, access.extent.begin);
        const auto end = cut(uses, access.extent.end);
        for (auto piece = begin; piece != end; ++piece) collect(piece->second, access.write, deps);
    }
    for (const Access& access : footprint) {
        if (access.extent.empty()) continue;
        Uses& uses = areas_[static_cast<std::size_t>(access.area)];
        const auto begin = cut(uses, access.extent.begin);
        const auto end = cut(uses, access.extent.end);
        if (access.write) {
            begin->second = Use{step, {}};
            uses.erase(std::next(begin), end);
        } else {
            for (auto piece = begin; piece != end; ++piece) piece->second.readers.push_back(step);
        }
    }
    std::sort(deps.begin(), deps.end());
    deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
    return deps;
}

Hazards::Uses::iterator Hazards::cut(Uses& uses, std::int64_t at) {
    const auto next = uses.upper_bound(at);
    const auto piece = std::prev(next);
    if (piece->first == at) return piece;
    return uses.emplace_hint(next, at, piece->second);
}

void Hazards::collect(const Use& use, bool write, std::vector<std::uint32_t>& deps) {
    if (write && !use.readers.empty())
        deps.insert(deps.end(), use.readers.begin(), use.readers.end());
    else if (use.writer >= 0)
        deps.push_back(static_cast<std::uint32_t>(use.writer));
}

}  // namespace gradcoll
