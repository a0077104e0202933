// topology/sources/job/reports.cpp - see reports.hpp.
#include "topology/sources/job/reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "topology/sources/host/gpu_places.hpp"

namespace gradcoll {

namespace {

/// What goes wrong on many ranks is told of the first of them.
struct Troubles {
    std::string first;
    std::size_t count = 0;

    void add(std::size_t rank, const std::string& reason) {
        if (count++ == 0) first = fmt::format("rank {}: {}", rank, reason);
    }
    void note(std::vector<std::string>& notes) const {
        if (count == 0) return;
        const std::string others = count == 1   ? ""
                                   : count == 2 ? " (and on one rank more)"
                                                : fmt::format(" (and on {} ranks more)", count - 1);
        notes.push_back(fmt::format("hwloc failed on {}{}; such a rank is right below its host",
                                    first, others));
    }
};

struct ReportedHost {
    JobHost host;
    std::vector<RankGpu> gpus;  ///< of its ranks, in their order
};

void place_on_gpus(ReportedHost& reported, std::vector<std::string>& notes) {
    std::vector<HostPath> paths;
    for (JobHost::Rank& rank : reported.host.ranks) paths.push_back(std::move(rank.path));
    place_on_gpus(paths, reported.gpus, notes);
    for (std::size_t i = 0; i < paths.size(); ++i)
        reported.host.ranks[i].path = std::move(paths[i]);
}

/// The lowest rank of a host speaks for it.
void join(ReportedHost& reported, int rank, RankReport report) {
    JobHost& host = reported.host;
    host.addresses_differ |= !host.ranks.empty() && host.slurm_address != report.slurm_address;
    if (host.ranks.empty()) {
        host.name = report.path.host_name;
        host.slurm_address = std::move(report.slurm_address);
        host.slurm_pattern = std::move(report.slurm_pattern);
        host.facts = report.facts;
    }
    if (!report.facts.unbound_over.empty() && host.unbound_count++ == 0)
        host.unbound_over = std::move(report.facts.unbound_over);
    host.ranks.push_back({rank, report.world_rank, std::move(report.path), report.gpu.bus_id});
    reported.gpus.push_back(std::move(report.gpu));
}

}  // namespace

Result<std::vector<JobHost>> hosts_of_reports(std::span<const std::string> reports,
                                              std::vector<std::string>& notes) {
    std::map<std::uint32_t, ReportedHost> hosts;
    Troubles troubles;
    for (std::size_t r = 0; r < reports.size(); ++r) {
        Result<RankReport> report = report_from(reports[r], reports.size());
        if (!report.ok())
            return Status(report.status().code(),
                          fmt::format("rank {}: {}", r, report.status().message()));
        if (!report->trouble.empty()) troubles.add(r, report->trouble);
        join(hosts[report->first_on_host], static_cast<int>(r), std::move(*report));
    }
    troubles.note(notes);
    std::vector<JobHost> job;
    for (auto& [first, reported] : hosts) {
        place_on_gpus(reported, notes);
        job.push_back(std::move(reported.host));
    }
    return job;
}

}  // namespace gradcoll
