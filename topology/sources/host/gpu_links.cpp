// topology/sources/host/gpu_links.cpp - see gpu_links.hpp.
#include "topology/sources/host/gpu_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "fabric/disjoint_sets.hpp"

namespace gradcoll {

namespace {

/// LinkedSets finds the sets of GPUs that can reach each other over links.
class LinkedSets {
  public:
    explicit LinkedSets(std::span<const LinkedGpu> gpus)
        : gpus_(gpus), linked_(gpus.size()), neighbours_(gpus.size()) {
        for (std::size_t i = 0; i < gpus.size(); ++i) index_of_.try_emplace(gpus[i].name, i);
        std::unordered_map<std::string_view, std::size_t> first_at_switch;
        for (std::size_t i = 0; i < gpus.size(); ++i)
            for (const GpuLink& link : gpus[i].links)
                if (link.to_switch)
                    unite(i, first_at_switch.try_emplace(link.target, i).first->second);
                else if (const auto other = index_of_.find(link.target); other != index_of_.end())
                    join(i, other->second);
        for (std::size_t i = 0; i < gpus.size(); ++i)
            sets_[linked_.find(static_cast<int>(i))].push_back(i);
    }

    GpuIslands islands() {
        for (const auto& [root, members] : sets_) settle(members, true);
        std::sort(found_.islands.begin(), found_.islands.end(), [](const auto& a, const auto& b) {
            return a.members.front() < b.members.front();
        });
        if (loose_ > 0) found_.note = note();
        return std::move(found_);
    }

  private:
    using Members = std::vector<std::size_t>;

    std::string note() const {
        const std::string parts = parts_ == 0 ? ""
                                  : parts_ == 1
                                      ? "a group of them is, else "
                                      : fmt::format("{} groups of them are, else ", parts_);
        return fmt::format(
            "links between GPUs join {} of them, but not each with each: {}the tree is that of "
            "PCIe",
            loose_, parts);
    }

    /// Makes an island of the members, or looks at their parts. `whole` says that links lead to no
    /// others.
    void settle(const Members& members, bool whole) {
        if (members.size() < 2) return;
        if (is_complete(members)) {
            parts_ += whole ? 0 : 1;
            found_.islands.push_back({members, figures_of(members)});
            return;
        }
        if (whole) loose_ += members.size();
        for (const Members& part : parts_of(members)) settle(part, false);
    }

    /// Splits the members where their ways over PCIe part; none if they do not.
    std::vector<Members> parts_of(const Members& members) const {
        const auto& first = gpus_[members.front()].above;
        std::size_t common = first.size();
        for (const std::size_t gpu : members) {
            const auto& above = gpus_[gpu].above;
            const auto end = std::mismatch(first.begin(), first.end(), above.begin(), above.end());
            common = std::min(common, static_cast<std::size_t>(end.first - first.begin()));
        }
        std::map<std::uint64_t, Members> by_place;
        for (const std::size_t gpu : members)
            if (const auto& above = gpus_[gpu].above; above.size() > common)
                by_place[above[common]].push_back(gpu);
        std::vector<Members> parts;
        for (auto& [place, part] : by_place) parts.push_back(std::move(part));
        return parts;
    }

    static bool holds(const Members& members, std::size_t gpu) {
        return std::binary_search(members.begin(), members.end(), gpu);
    }

    bool is_complete(const Members& members) const {
        const auto each = [&](const auto& is_so) {
            return std::all_of(members.begin(), members.end(), is_so);
        };
        if (each([&](std::size_t gpu) {
                const auto& own = neighbours_[gpu];
                return static_cast<std::size_t>(
                           std::count_if(own.begin(), own.end(), [&](std::size_t other) {
                               return holds(members, other);
                           })) == members.size() - 1;
            }))
            return true;
        const std::vector<GpuLink>& first = gpus_[members.front()].links;
        const auto to_switch = std::find_if(first.begin(), first.end(),
                                            [](const auto& link) { return link.to_switch; });
        return to_switch != first.end() && each([&](std::size_t gpu) {
                   const std::vector<GpuLink>& own = gpus_[gpu].links;
                   return std::any_of(own.begin(), own.end(), [&](const GpuLink& link) {
                       return link.to_switch && link.target == to_switch->target;
                   });
               });
    }

    std::vector<double> figures_of(const Members& members) const {
        std::vector<double> figures;
        for (const std::size_t gpu : members) figures.push_back(figure_of(gpu, members));
        return figures;
    }

    /// Returns the rate of the links to others of the island, and to switches, together.
    double figure_of(std::size_t gpu, const Members& members) const {
        double sum = 0;
        for (const GpuLink& link : gpus_[gpu].links) {
            const auto other = index_of_.find(link.target);
            const bool inside = other != index_of_.end() && holds(members, other->second);
            if (!link.to_switch && !inside) continue;
            if (!(link.gbytes_per_s > 0)) return 0;
            sum += link.gbytes_per_s;
        }
        return sum;
    }

    void join(std::size_t a, std::size_t b) {
        if (a == b) return;
        neighbours_[a].insert(b);
        neighbours_[b].insert(a);
        unite(a, b);
    }
    void unite(std::size_t a, std::size_t b) {
        linked_.join(static_cast<int>(a), static_cast<int>(b));
    }

    std::span<const LinkedGpu> gpus_;
    DisjointSets linked_;
    std::vector<std::unordered_set<std::size_t>> neighbours_;
    std::unordered_map<std::string_view, std::size_t> index_of_;
    std::map<int, Members> sets_;  ///< members ascending
    GpuIslands found_;
    std::size_t loose_ = 0;  ///< GPUs that links join, but not each with each
    std::size_t parts_ = 0;  ///< islands among these
};

}  // namespace

GpuIslands islands_of(std::span<const LinkedGpu> gpus) {
    return LinkedSets(gpus).islands();
}

}  // namespace gradcoll
