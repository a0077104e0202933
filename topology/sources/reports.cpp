// topology/sources/reports.cpp - see reports.hpp.
#include "topology/sources/reports.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "topology/bytes.hpp"

namespace gradcoll {

namespace {

/// Switches may be host lists, so addresses are longer than names.
constexpr std::size_t max_address_bytes = std::size_t{1} << 16;

std::string_view cut(std::string_view text) {
    return text.substr(0, max_name_bytes);
}

/// A part of an address would name other switches.
std::string_view whole_or_nothing(std::string_view text) {
    return text.size() <= max_address_bytes ? text : std::string_view();
}

void write_facts(ByteWriter& writer, const HostFacts& facts) {
    writer.number(facts.cores);
    writer.number(facts.hidden_cpus);
    writer.number(static_cast<std::uint8_t>(facts.shapeless));
    writer.text(cut(facts.unbound_over));
}

bool read_facts(ByteReader& reader, HostFacts& facts) {
    std::uint8_t shapeless = 0;
    if (!reader.number(facts.cores) || !reader.number(facts.hidden_cpus) ||
        !reader.number(shapeless) || !reader.text(facts.unbound_over, max_name_bytes))
        return false;
    facts.shapeless = shapeless != 0;
    return true;
}

Result<RankReport> report_from(std::string_view bytes, std::size_t rank_count) {
    ByteReader reader(bytes);
    RankReport report{};
    std::string path_bytes;
    if (!reader.number(report.first_on_host) || report.first_on_host >= rank_count ||
        !reader.number(report.world_rank) || !reader.text(report.trouble, max_name_bytes) ||
        !reader.text(report.slurm_address, max_address_bytes) ||
        !reader.text(report.slurm_pattern, max_address_bytes) ||
        !read_facts(reader, report.facts) || !reader.text(path_bytes, reader.size_left()) ||
        reader.size_left() != 0)
        return Status(Code::corrupt,
                      fmt::format("host report of {} bytes is malformed", bytes.size()));
    Result<HostPath> path = host_path_from(path_bytes);
    if (!path.ok()) return path.status();
    report.path = std::move(*path);
    return report;
}

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

/// The lowest rank of a host speaks for it.
void join(JobHost& host, int rank, RankReport report) {
    host.addresses_differ |= !host.ranks.empty() && host.slurm_address != report.slurm_address;
    if (host.ranks.empty()) {
        host.name = report.path.host_name;
        host.slurm_address = std::move(report.slurm_address);
        host.slurm_pattern = std::move(report.slurm_pattern);
        host.facts = report.facts;
    }
    if (!report.facts.unbound_over.empty() && host.unbound_count++ == 0)
        host.unbound_over = std::move(report.facts.unbound_over);
    host.ranks.push_back({rank, report.world_rank, std::move(report.path)});
}

}  // namespace

std::string report_bytes(const RankReport& report) {
    ByteWriter writer;
    writer.number(report.first_on_host);
    writer.number(report.world_rank);
    writer.text(cut(report.trouble));
    writer.text(whole_or_nothing(report.slurm_address));
    writer.text(whole_or_nothing(report.slurm_pattern));
    write_facts(writer, report.facts);
    writer.text(host_path_bytes(report.path));
    return writer.take();
}

Result<std::vector<JobHost>> hosts_of_reports(std::span<const std::string> reports,
                                              std::vector<std::string>& notes) {
    std::map<std::uint32_t, JobHost> hosts;
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
    for (auto& [first, host] : hosts) job.push_back(std::move(host));
    return job;
}

}  // namespace gradcoll
