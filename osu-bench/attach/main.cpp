// gc_bench attach - measures what finding the tree of a job costs, among ranks that do not exist:
// the reports of alike hosts are made up, and then processed as discover_tree() does. It prints
// what rank 0 receives, how long it works, what it sends to all, and what every rank then does and
// keeps. Times are those of one core, without MPI's own.

#include <fmt/format.h>
#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "command_line/option_parser.hpp"
#include "topology/sources/job/discovered_tree.hpp"
#include "topology/sources/job/job_tree.hpp"
#include "topology/sources/job/reports.hpp"

using namespace gradcoll;

namespace {

struct Options {
    std::uint32_t hosts = 64;
    std::uint32_t ranks_per_host = 16;
    bool slurm = false;
};

constexpr std::uint32_t hosts_per_switch = 16;
constexpr std::uint32_t switches_per_group = 16;

double ms_since(std::uint64_t start_ns) {
    return seconds_of(now_ns() - start_ns) * 1e3;
}

double kib(std::size_t bytes) {
    return static_cast<double>(bytes) / 1024;
}

double allocated_kib() {
    const struct mallinfo2 info = mallinfo2();
    return kib(info.uordblks + info.hblkhd);
}

HostPath path_on(std::uint32_t host, std::uint32_t core, std::uint32_t cores) {
    const std::uint32_t package = core / ((cores + 1) / 2);
    const std::uint32_t cache = core / 8 * 8;
    return {fmt::format("node{:05}", host),
            {{VertexKind::package, package, fmt::format("Package L#{}", package)},
             {VertexKind::numa, package, fmt::format("NUMANode L#{}", package)},
             {VertexKind::cache, cache, fmt::format("L3 L#{}", cache / 8)},
             {VertexKind::core, core, fmt::format("Core L#{}", core)}}};
}

RankReport report_of(std::uint32_t host, std::uint32_t place, const Options& options) {
    RankReport report;
    report.first_on_host = host * options.ranks_per_host;
    report.world_rank = static_cast<int>(report.first_on_host + place);
    report.path = path_on(host, place, options.ranks_per_host);
    report.facts.cores = options.ranks_per_host;
    if (options.slurm) {
        const std::uint32_t leaf = host / hosts_per_switch;
        report.slurm_address = fmt::format("core.group{}.leaf{}.{}", leaf / switches_per_group,
                                           leaf, report.path.host_name);
        report.slurm_pattern = "switch.switch.switch.node";
    }
    return report;
}

std::vector<std::string> reports_of(const Options& options) {
    std::vector<std::string> reports;
    for (std::uint32_t host = 0; host < options.hosts; ++host)
        for (std::uint32_t place = 0; place < options.ranks_per_host; ++place)
            reports.push_back(report_bytes(report_of(host, place, options)));
    return reports;
}

Status run(const Options& options) {
    const std::vector<std::string> reports = reports_of(options);
    std::size_t gathered_bytes = 0;
    for (const std::string& report : reports) gathered_bytes += report.size();

    const double before_kib = allocated_kib();
    const std::uint64_t reading = now_ns();
    Job job;
    job.rank_count = static_cast<int>(reports.size());
    std::vector<std::string> notes;
    job.hosts = GRADCOLL_VALUE(hosts_of_reports(reports, notes));
    const double reading_ms = ms_since(reading);
    const double hosts_kib = allocated_kib() - before_kib;

    const std::uint64_t making = now_ns();
    WrittenSource source = GRADCOLL_VALUE(written_source(""));
    source = GRADCOLL_VALUE(resolved(std::move(source)));
    const std::string answer = discovery_bytes(JobSources(source).tree_of(job, std::move(notes)));
    const double making_ms = ms_since(making);

    const double before_tree_kib = allocated_kib();
    const std::uint64_t taking = now_ns();
    const DiscoveredTree found = GRADCOLL_VALUE(discovery_from(answer));
    const double taking_ms = ms_since(taking);
    fmt::print("{} ranks on {} hosts, a tree of {} vertices\n", reports.size(), options.hosts,
               found.tree.vertex_count());
    fmt::print("rank 0 receives {:.0f} KiB, reads them in {:.2f} ms, then keeps {:.0f} KiB\n",
               kib(gathered_bytes), reading_ms, hosts_kib);
    fmt::print("rank 0 makes the tree in {:.2f} ms, sends {:.1f} KiB to all\n", making_ms,
               kib(answer.size()));
    fmt::print("each rank reads it in {:.2f} ms, keeps {:.0f} KiB\n", taking_ms,
               allocated_kib() - before_tree_kib);
    return {};
}

}  // namespace

namespace {

int body(int argc, char** argv) {
    Options options;
    gradcoll::OptionParser app("What finding the tree costs among ranks that are not there",
                               "gc_bench attach");
    app.add_option("--hosts", options.hosts)->capture_default_str()->in_range(1, 1 << 17);
    app.add_option("--ranks-per-host", options.ranks_per_host)
        ->capture_default_str()
        ->in_range(1, 1024);
    app.add_flag("--slurm", options.slurm, "hosts tell SLURM's switches");
    if (const auto status = app.exit_status(argc, argv)) return *status;
    const Status status = run(options);
    if (status.ok()) return 0;
    fmt::print(stderr, "gc_bench attach: {}\n", status.message());
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    return gradcoll::guarded("gc_bench attach", body, argc, argv);
}
