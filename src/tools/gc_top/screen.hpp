// gc_top/screen.hpp - jobs as a screen of text. Pure.
#pragma once

#include <string>
#include <vector>

#include "jobs.hpp"

namespace gc_top {

/// `seconds` between the looks; at most `most_ranks` lines for a job, those that were in calls
/// longest. At most 100 columns.
std::string screen_of(const std::vector<Job>& jobs, double seconds, int most_ranks);

}  // namespace gc_top
