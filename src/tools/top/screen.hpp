// top/screen.hpp - shows jobs as a screen of text. Pure.
#pragma once

#include <string>
#include <vector>

#include "jobs.hpp"

namespace gradcoll::top {

/// Returns the screen. `seconds` passed between the looks; a job has at most `most_ranks` lines,
/// for the ranks that were in calls longest. A line has at most 100 columns.
std::string screen_of(const std::vector<Job>& jobs, double seconds, int most_ranks);

}  // namespace gradcoll::top
