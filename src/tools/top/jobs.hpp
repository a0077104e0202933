// top/jobs.hpp - what ranks of this host have counted, by job, and how that is shown as a screen of
// text.
#pragma once

#include <string>
#include <vector>

#include "report/live_page.hpp"

namespace gradcoll::top {

/// A RankWindow is one rank between two looks.
struct RankWindow {
    gradcoll::LiveFacts facts;
    std::string codec;
    gradcoll::LiveFigures figures{};          ///< counted meanwhile
    std::vector<gradcoll::OwnLink> links{};   ///< with what was counted meanwhile
    std::vector<gradcoll::LiveWait> waits{};  ///< those at the later look, the longest first

    double of(gradcoll::LiveFigure figure) const {
        return static_cast<double>(figures[static_cast<std::size_t>(figure)]);
    }
};

/// A Job is the ranks of one launcher and one command.
struct Job {
    std::vector<RankWindow> ranks;  ///< by number; never empty
};

/// Reads the pages of processes that run. Removes pages of this user whose process is gone.
std::vector<gradcoll::LiveReading> look(const std::string& folder);

/// Returns the ranks that are in both looks, by job; the oldest first. Pure.
std::vector<Job> jobs_between(const std::vector<gradcoll::LiveReading>& before,
                              const std::vector<gradcoll::LiveReading>& after);

/// Returns the screen. `seconds` passed between the looks; a job has at most `most_ranks` lines,
/// for the ranks that were in calls longest. A line has at most 100 columns.
std::string screen_of(const std::vector<Job>& jobs, double seconds, int most_ranks);

}  // namespace gradcoll::top
