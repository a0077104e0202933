// move/reports.hpp - the texts that `gradcoll move` prints.
#pragma once

#include <string>
#include <vector>

#include "mover/analysis/layers.hpp"
#include "mover/files/inputs.hpp"
#include "mover/plan/planner.hpp"
#include "mover/profile/measured_peak.hpp"

namespace gradcoll::move {

/// Returns the step in three lines, and a table by rank.
std::string plan_report(const gradcoll::mover::Scene& scene,
                        const gradcoll::mover::PlannedStep& step, gradcoll::mover::Rule rule);

/// Returns what a rank's device holds at its peak, with nothing moved.
std::string peak_report(const gradcoll::mover::Scene& scene);

/// Returns what each layer has on one device, with nothing recomputed; equal ones stand together.
std::string layers_report(const gradcoll::mover::Model& model,
                          const gradcoll::mover::Parallel& parallel,
                          const std::vector<gradcoll::mover::DeviceLayer>& layers);

/// Compares the peak of a trace with that of the rank that holds most: in all, and without what
/// stays from step to step.
std::string measured_report(const gradcoll::mover::Scene& scene, const std::string& path,
                            const gradcoll::mover::MeasuredPeak& measured);

struct RuleRows {
    gradcoll::mover::Rule rule = gradcoll::mover::Rule::ours;
    std::vector<gradcoll::mover::SmallestMemory> rows;  ///< one for each slowdown, the same
                                                        ///< slowdowns for all rules
};

/// Returns a line for each slowdown, with a column for each rule.
std::string smallest_report(const gradcoll::mover::Scene& scene,
                            const std::vector<RuleRows>& rules);

}  // namespace gradcoll::move
