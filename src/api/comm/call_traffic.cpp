#include "api/comm/call_traffic.hpp"

#include <cmath>
#include <utility>

#include "collectives/build/planner.hpp"
#include "collectives/predict/forecast.hpp"
#include "report/report.hpp"

namespace gradcoll {
namespace {

/// By the plans of so many ranks; more take too long for a first call.
constexpr int most_planned_ranks = 64;

Result<std::vector<LinkBytes>> counted_links(const Tree& tree, const PlanSpec& spec) {
    const auto planner = Planner::make(tree, spec);
    if (!planner) return planner.status();
    LinkCounter counter(tree);
    for (int rank = 0; rank < tree.rank_count(); ++rank) {
        const auto plan = planner->plan(rank);
        if (!plan) return plan.status();
        counter.add(*plan);
    }
    return counter.links();
}

std::vector<LinkBytes> expected_links(const Tree& tree, const PlanSpec& spec) {
    std::vector<LinkBytes> links;
    for (const double bytes : expected_on_uplinks(tree, spec)) {
        const auto whole = static_cast<std::uint64_t>(std::llround(bytes));
        links.push_back({whole, whole});
    }
    return links;
}

}  // namespace

std::shared_ptr<const TreeTraffic> traffic_of_call(const Tree& tree, const PlanSpec& spec) {
    if (tree.vertex_count() > Report::most_pictured_vertices) return nullptr;
    if (tree.rank_count() > most_planned_ranks) {
        if (!is_predicted(spec) || spec.collective != Collective::allreduce) return nullptr;
        return std::make_shared<const TreeTraffic>(
            TreeTraffic{tree, 1, expected_links(tree, spec)});
    }
    auto links = counted_links(tree, spec);
    if (!links) return nullptr;
    return std::make_shared<const TreeTraffic>(TreeTraffic{tree, 1, std::move(links).value()});
}

}  // namespace gradcoll
