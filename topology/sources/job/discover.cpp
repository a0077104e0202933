// topology/sources/job/discover.cpp - the collective part: rank 0 makes the tree from what it reads
// or gathers, and sends it (or the error) to all.
#include "topology/sources/job/discover.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <numeric>
#include <optional>
#include <utility>

#include "base/mpi/exchange.hpp"
#include "base/options.hpp"
#include "topology/pci_address.hpp"
#include "topology/sources/cluster/exchange.hpp"
#include "topology/sources/cluster/probe.hpp"
#include "topology/sources/host/this_machine.hpp"
#include "topology/sources/job/job_tree.hpp"
#include "topology/sources/job/probe_request.hpp"
#include "topology/sources/job/reports.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {

namespace {

// ---- what a rank says of itself
// -------------------------------------------------------------------------------------------------

void describe_machine(Reports what, const std::string& gpu_bus_id, RankReport& report) {
    if (what == Reports::host_paths) {
        report.facts = this_machine_facts();
        if (!gpu_bus_id.empty()) report.gpu = this_rank_gpu(gpu_bus_id);
        Result<HostPath> path = this_rank_path();
        if (path.ok()) {
            report.path = std::move(*path);
            return;
        }
        report.trouble = path.status().message();
    }
    if (const auto address = PciAddress::from(gpu_bus_id)) report.gpu.bus_id = address->text();
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    report.path.host_name = name;
}

Result<RankReport> own_report(MPI_Comm comm, int rank, Reports what,
                              const std::string& gpu_bus_id) {
    RankReport report;
    GRADCOLL_TRY(find_first_on_host(comm, rank, report.first_on_host));
    std::vector<int> world;
    GRADCOLL_TRY(find_world_ranks(comm, {rank}, world));
    report.world_rank = world.front() == MPI_UNDEFINED ? -1 : world.front();
    report.slurm_address = foreign_variable("SLURM_TOPOLOGY_ADDR");
    report.slurm_pattern = foreign_variable("SLURM_TOPOLOGY_ADDR_PATTERN");
    describe_machine(what, gpu_bus_id, report);
    return report;
}

// ---- the discovery
// -------------------------------------------------------------------------------------------------

std::vector<ProbeHost> probe_hosts(std::span<const JobHost> hosts) {
    std::vector<ProbeHost> all;
    for (const JobHost& host : hosts) all.push_back({host.ranks.front().rank, host.name});
    return all;
}

/// Work is what rank 0 needs of all ranks.
struct Work {
    Reports reports = Reports::none;
    bool measure = false;
};

class Discovery {
  public:
    Discovery(MPI_Comm comm, const DiscoveryWish& wish) : comm_(comm), wish_(wish) {}

    Result<DiscoveredTree> run(const std::string& written) {
        GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank"));
        GRADCOLL_TRY(from_mpi(PMPI_Comm_size(comm_, &size_), "MPI_Comm_size"));
        Status trouble = rank_ == 0 ? read_sources(written) : Status();
        Work work{needs_.reports, needs_.measurement};
        GRADCOLL_TRY(broadcast(comm_, work));
        if (work.reports != Reports::none) GRADCOLL_TRY(learn_hosts(work.reports, trouble));
        if (work.measure) GRADCOLL_TRY(measure());
        std::string answer;
        if (rank_ == 0) answer = discovery_bytes(trouble.ok() ? tree() : trouble);
        // Everybody, rank 0 too, reads the same bytes.
        GRADCOLL_TRY(share_bytes(comm_, answer));
        return discovery_from(answer);
    }

  private:
    // Unless they are collective, only rank 0 calls the functions below. They return errors of MPI;
    // what is to be reported to all ranks is `trouble`.

    Status read_sources(const std::string& written) {
        WrittenSource source = GRADCOLL_VALUE(written_source(written));
        source = GRADCOLL_VALUE(resolved(std::move(source)));
        sources_.emplace(source);
        needs_ = sources_->needs();
        return {};
    }

    /// Gathers the ranks' reports and makes hosts of them. Collective.
    Status learn_hosts(Reports what, Status& trouble) {
        const RankReport mine = GRADCOLL_VALUE(own_report(comm_, rank_, what, wish_.gpu_bus_id));
        std::vector<std::string> reports;
        GRADCOLL_TRY(gather_bytes(comm_, report_bytes(mine), reports));
        if (rank_ != 0) return {};
        Result<std::vector<JobHost>> hosts = hosts_of_reports(reports, notes_);
        if (hosts.ok())
            job_.hosts = std::move(*hosts);
        else
            trouble = hosts.status();
        return {};
    }

    /// Lets ranks measure what is between hosts; one host alone is not measured. Collective.
    Status measure() {
        std::string bytes;
        if (rank_ == 0)
            bytes = probe_request_bytes(
                {needs_.measurement_file, sources_->origin(), probe_hosts(job_.hosts)});
        GRADCOLL_TRY(share_bytes(comm_, bytes));
        const ProbeRequest request = GRADCOLL_VALUE(probe_request_from(bytes, size_));
        if (request.hosts.size() < 2) return {};
        const ProbeOptions options{.cache_file = request.cache_file, .job = request.job};
        job_.measured = GRADCOLL_VALUE(probe_switches(comm_, request.hosts, options));
        return {};
    }

    Result<DiscoveredTree> tree() {
        job_.rank_count = size_;
        job_.may_use_kept = wish_.may_use_kept;
        if (needs_.reports == Reports::none) GRADCOLL_TRY(find_world());
        return sources_->tree_of(job_, std::move(notes_));
    }

    /// Finds the ranks in MPI_COMM_WORLD for sources that name those; otherwise reports tell them.
    Status find_world() {
        GRADCOLL_TRY(from_mpi(PMPI_Comm_size(MPI_COMM_WORLD, &job_.world_size), "MPI_Comm_size"));
        std::vector<int> own(static_cast<std::size_t>(size_));
        std::iota(own.begin(), own.end(), 0);
        GRADCOLL_TRY(find_world_ranks(comm_, own, job_.world_ranks));
        for (int& rank : job_.world_ranks)
            if (rank == MPI_UNDEFINED) rank = -1;
        return {};
    }

    MPI_Comm comm_;
    const DiscoveryWish& wish_;
    int rank_ = 0;
    int size_ = 0;
    std::optional<JobSources> sources_;
    Needs needs_;
    Job job_;
    std::vector<std::string> notes_;
};

}  // namespace

Result<DiscoveredTree> discover_tree(MPI_Comm comm, const std::string& written,
                                     const DiscoveryWish& wish) {
    return Discovery(comm, wish).run(written);
}

}  // namespace gradcoll
