// gc_plan/move/reports.hpp - what `gc_plan move` prints.
#pragma once

#include <string>
#include <vector>

#include "mover/files/inputs.hpp"
#include "mover/plan/planner.hpp"
#include "mover/plan/smallest.hpp"
#include "mover/profile/profiled_step.hpp"
#include "mover/validate/published.hpp"
#include "mover/validate/step_times.hpp"

namespace gc_plan::move {

/// The step in two lines, and a table by rank.
std::string plan_report(const gradcoll::mover::Scene& scene,
                        const gradcoll::mover::PlannedStep& step, gradcoll::mover::Rule rule);

/// What a rank's device holds at its peak, with nothing moved.
std::string peak_report(const gradcoll::mover::Scene& scene);

/// The peak of a trace beside that of the rank that holds most: in all, and without what is there
/// from step to step.
std::string measured_report(const gradcoll::mover::Scene& scene, const std::string& path,
                            const gradcoll::mover::MeasuredPeak& measured);

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
