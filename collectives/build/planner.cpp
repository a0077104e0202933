// collectives/build/planner.cpp - checks a spec, cuts it into chunks, builds one rank's plan.
#include "collectives/build/planner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/build/flexreduce/flexreduce.hpp"
#include "collectives/build/merge.hpp"
#include "collectives/build/spec_check.hpp"

namespace gradcoll {

Result<Planner> Planner::make(const Tree& tree, PlanSpec spec) {
    GRADCOLL_TRY(check_spec(tree, spec));
    auto planned = std::make_shared<const PlannedTree>(tree, spec);
    GRADCOLL_TRY(check_planned(planned->tree(), planned->spec()));
    const auto stages =
        static_cast<std::uint32_t>(flexreduce_stage_count(planned->tree(), planned->spec()));
    return Planner(std::move(spec), std::move(planned), stages);
}

Result<Schedule> Planner::schedule(int rank, std::int64_t chunk_elems) const {
    auto made =
        flexreduce_schedule(planned_->tree(), planned_->spec(), stage_count_, rank, chunk_elems);
    if (made.ok()) planned_->number_levels(rank, *made);
    return made;
}

Result<Plan> Planner::plan(int rank) const {
    const int rank_count = planned_->tree().rank_count();
    if (rank < 0 || rank >= rank_count)
        return Status(Code::invalid_argument,
                      fmt::format("rank is {}: must be 0 to {}", rank, rank_count - 1));
    Plan plan;
    plan.spec = spec_;
    plan.rank = rank;
    plan.rank_count = rank_count;
    plan.stage_count = stage_count_;
    if (spec_.count_elems == 0) return plan;
    const std::int64_t chunk =
        spec_.chunk_elems == 0 ? spec_.count_elems : std::min(spec_.chunk_elems, spec_.count_elems);
    plan.chunk_count = (spec_.count_elems + chunk - 1) / chunk;
    const std::int64_t rest = spec_.count_elems % chunk;
    auto body = schedule(rank, chunk);
    if (!body.ok()) return body.status();
    plan.body = std::move(*body);
    if (rest == 0) return plan;
    auto tail = schedule(rank, rest);
    if (!tail.ok()) return tail.status();
    plan.tail = std::move(*tail);
    return plan;
}

Result<Plan> make_plan(const Tree& tree, const PlanSpec& spec, int rank) {
    const Result<Planner> planner = Planner::make(tree, spec);
    return planner.ok() ? planner->plan(rank) : Result<Plan>(planner.status());
}

}  // namespace gradcoll
