// topology/sources/gpu_links.cpp - see gpu_links.hpp.
#include "topology/sources/gpu_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace gradcoll {

namespace {

/// GPUs that can reach each other over links, as sets.
class LinkedSets {
  public:
    explicit LinkedSets(std::span<const LinkedGpu> gpus)
        : gpus_(gpus), above_(gpus.size()), neighbours_(gpus.size()) {
        std::iota(above_.begin(), above_.end(), std::size_t{0});
        for (std::size_t i = 0; i < gpus.size(); ++i) index_of_.try_emplace(gpus[i].name, i);
        std::unordered_map<std::string_view, std::size_t> first_at_switch;
        for (std::size_t i = 0; i < gpus.size(); ++i)
            for (const GpuLink& link : gpus[i].links)
                if (link.to_switch)
                    unite(i, first_at_switch.try_emplace(link.target, i).first->second);
                else if (const auto other = index_of_.find(link.target); other != index_of_.end())
                    join(i, other->second);
        for (std::size_t i = 0; i < gpus.size(); ++i) sets_[root(i)].push_back(i);
    }

    GpuIslands islands() {
        GpuIslands found;
        for (const auto& [root, members] : sets_) {
            if (members.size() < 2) continue;
            if (is_complete(members))
                found.islands.push_back({members, figures_of(members)});
            else
                found.loose += members.size();
        }
        std::sort(found.islands.begin(), found.islands.end(), [](const auto& a, const auto& b) {
            return a.members.front() < b.members.front();
        });
        return found;
    }

  private:
    bool is_complete(const std::vector<std::size_t>& members) const {
        const auto each = [&](const auto& holds) {
            return std::all_of(members.begin(), members.end(), holds);
        };
        if (each([&](std::size_t gpu) { return neighbours_[gpu].size() == members.size() - 1; }))
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

    std::vector<double> figures_of(const std::vector<std::size_t>& members) const {
        std::vector<double> figures;
        for (const std::size_t gpu : members) figures.push_back(figure_of(gpu));
        return figures;
    }

    /// Of a set's member all links to GPUs that are here lead to others of the set.
    double figure_of(std::size_t gpu) const {
        double sum = 0;
        for (const GpuLink& link : gpus_[gpu].links) {
            if (!link.to_switch && !index_of_.contains(link.target)) continue;
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
    void unite(std::size_t a, std::size_t b) { above_[root(a)] = root(b); }
    std::size_t root(std::size_t gpu) {
        while (above_[gpu] != gpu) gpu = above_[gpu] = above_[above_[gpu]];
        return gpu;
    }

    std::span<const LinkedGpu> gpus_;
    std::vector<std::size_t> above_;
    std::vector<std::unordered_set<std::size_t>> neighbours_;
    std::unordered_map<std::string_view, std::size_t> index_of_;
    std::map<std::size_t, std::vector<std::size_t>> sets_;
};

}  // namespace

GpuIslands islands_of(std::span<const LinkedGpu> gpus) {
    return LinkedSets(gpus).islands();
}

std::string note_of_loose_gpus(std::size_t loose) {
    return fmt::format(
        "links between GPUs join {} of them, but not each with each: the tree is that of PCIe",
        loose);
}

}  // namespace gradcoll
