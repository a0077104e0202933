#include "jobs.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>

namespace gradcoll::top {

namespace {

bool is_gone(const LiveReading& reading) {
    const auto process = static_cast<pid_t>(reading.facts.process_id);
    return process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

/// Returns whether both are of one process, not of a later one with its number.
bool are_one(const LiveReading& a, const LiveReading& b) {
    return a.facts.process_id == b.facts.process_id &&
           a.facts.start_unix_ns == b.facts.start_unix_ns;
}

RankWindow between(const LiveReading& before, const LiveReading& after) {
    RankWindow window{after.facts, after.codec, {}, {}, after.waits};
    for (std::size_t i = 0; i < window.figures.size(); ++i)
        window.figures[i] = after.figures[i] - std::min(before.figures[i], after.figures[i]);
    for (OwnLink link : after.links) {
        for (const OwnLink& then : before.links)
            if (then.key == link.key) {
                link.up_bytes -= std::min(then.up_bytes, link.up_bytes);
                link.down_bytes -= std::min(then.down_bytes, link.down_bytes);
            }
        window.links.push_back(std::move(link));
    }
    return window;
}

std::int64_t start_of(const Job& job) {
    const auto earlier = [](const RankWindow& a, const RankWindow& b) {
        return a.facts.start_unix_ns < b.facts.start_unix_ns;
    };
    return std::min_element(job.ranks.begin(), job.ranks.end(), earlier)->facts.start_unix_ns;
}

}  // namespace

std::vector<LiveReading> look(const std::string& folder) {
    std::vector<LiveReading> readings;
    for (const std::string& path : live_page_paths(folder)) {
        auto reading = read_live_page(path);
        if (!reading) continue;  // another user's, or just being made
        if (is_gone(*reading))
            unlink(path.c_str());
        else
            readings.push_back(std::move(reading).value());
    }
    return readings;
}

std::vector<Job> jobs_between(const std::vector<LiveReading>& before,
                              const std::vector<LiveReading>& after) {
    std::map<std::tuple<std::int64_t, int, std::string>, Job> by_launch;
    for (const LiveReading& now : after) {
        const auto then = std::find_if(before.begin(), before.end(),
                                       [&](const LiveReading& one) { return are_one(one, now); });
        if (then == before.end()) continue;
        by_launch[{now.facts.parent_id, now.facts.ranks, now.facts.command}].ranks.push_back(
            between(*then, now));
    }
    std::vector<Job> jobs;
    for (auto& [launch, job] : by_launch) {
        std::sort(job.ranks.begin(), job.ranks.end(),
                  [](const auto& a, const auto& b) { return a.facts.rank < b.facts.rank; });
        jobs.push_back(std::move(job));
    }
    std::sort(jobs.begin(), jobs.end(),
              [](const Job& a, const Job& b) { return start_of(a) < start_of(b); });
    return jobs;
}

}  // namespace gradcoll::top
