// gc_plan/move/reports.hpp - what `gc_plan move` prints.
#pragma once

#include <string>
#include <vector>

#include "mover/files/inputs.hpp"
#include "mover/plan/planner.hpp"
#include "mover/plan/smallest.hpp"
#include "mover/validate/published.hpp"
#include "mover/validate/step_times.hpp"

namespace gc_plan::move {

/// The step in two lines, and a table by rank.
std::string plan_report(const gradcoll::mover::Scene& scene,
                        const gradcoll::mover::PlannedStep& step, gradcoll::mover::Rule rule);

/// What a rank's device holds at its peak, with nothing moved.
std::string peak_report(const gradcoll::mover::Scene& scene);

struct RuleRows {
    gradcoll::mover::Rule rule = gradcoll::mover::Rule::ours;
    std::vector<gradcoll::mover::SmallestMemory> rows;  ///< one a slowdown, the same for all rules
};

/// A line a slowdown; rules beside each other.
std::string smallest_report(const gradcoll::mover::Scene& scene,
                            const std::vector<RuleRows>& rules);

std::string published_report(const std::vector<gradcoll::mover::PublishedRow>& rows);
/// Published times of steps beside ours.
std::string step_times_report(const std::vector<gradcoll::mover::StepTimes>& groups);

}  // namespace gc_plan::move
