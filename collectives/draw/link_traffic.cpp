// collectives/draw/link_traffic.cpp - see link_traffic.hpp.
#include "collectives/draw/link_traffic.hpp"

#include <algorithm>

#include "collectives/build/planner.hpp"

namespace gradcoll {

namespace {

constexpr double bytes_per_us = 1e3;  // of 1 GB/s

}  // namespace

Result<LinkTraffic> LinkTraffic::of(const Tree& tree, const PlanSpec& spec) {
    LinkTraffic traffic(tree);
    traffic.counted_ = tree.rank_count() <= counted_ranks;
    if (traffic.counted_) {
        GRADCOLL_TRY(traffic.count(spec));
    } else {
        if (const auto first = make_plan(tree, spec, 0); !first.ok()) return first.status();
        traffic.expected_ = expected_loads(tree, spec);
    }
    return traffic;
}

Status LinkTraffic::count(const PlanSpec& spec) {
    counts_.resize(static_cast<std::size_t>(tree_->vertex_count()) *
                   static_cast<std::size_t>(tree_->height()));
    for (int rank = 0; rank < tree_->rank_count(); ++rank) {
        const auto plan = make_plan(*tree_, spec, rank);
        if (!plan.ok()) return plan.status();
        if (plan->chunk_count == 0) continue;
        const bool has_tail = plan->tail.count_elems > 0;
        add(*plan, plan->body, static_cast<double>(plan->chunk_count - (has_tail ? 1 : 0)));
        if (has_tail) add(*plan, plan->tail, 1);
    }
    return {};
}

/// Vertices are numbered in pre-order: of two that are not above each other the one with the higher
/// number is never above the other.
void LinkTraffic::add(const Plan& plan, const Schedule& schedule, double times) {
    for (const Step& step : schedule.steps) {
        if (step.kind != StepKind::send) continue;
        const double bytes =
            times * static_cast<double>(message_bytes(step, schedule, plan.spec.elem_bytes));
        int from = tree_->leaf_of(plan.rank);
        int to = tree_->leaf_of(step.peer);
        while (from != to) {
            int& lower = from > to ? from : to;
            LevelBytes& link = counted_at(lower, step.level);
            (from > to ? link.up : link.down) += bytes;
            lower = tree_->vertex(lower).parent;
        }
    }
}

std::vector<LevelBytes> LinkTraffic::by_level(int vertex) const {
    if (!counted_) return expected_by_level(vertex);
    std::vector<LevelBytes> levels;
    for (int level = 0; level < tree_->height(); ++level) {
        LevelBytes bytes = counts_[place_of(vertex, level)];
        bytes.level = level;
        if (bytes.up > 0 || bytes.down > 0) levels.push_back(bytes);
    }
    return levels;
}

std::vector<LevelBytes> LinkTraffic::expected_by_level(int vertex) const {
    std::vector<LevelBytes> levels;
    double share = 1;
    for (int at = vertex; at != tree_->root();) {
        const ExpectedLoad& load = expected_[static_cast<std::size_t>(at)];
        levels.push_back(
            {tree_->vertex(load.vertex).height - 1, share * load.here, share * load.here});
        share *= load.of_above;
        at = load.vertex;
    }
    return levels;
}

LevelBytes LinkTraffic::total(int vertex) const {
    LevelBytes sum;
    for (const LevelBytes& level : by_level(vertex)) {
        sum.up += level.up;
        sum.down += level.down;
    }
    return sum;
}

double LinkTraffic::time_us(int vertex) const {
    const double bandwidth = tree_->vertex(vertex).uplink.bandwidth_gbytes_per_s;
    if (bandwidth <= 0) return 0;
    const LevelBytes bytes = total(vertex);
    return std::max(bytes.up, bytes.down) / (bandwidth * bytes_per_us);
}

}  // namespace gradcoll
