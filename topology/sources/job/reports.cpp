// topology/sources/job/reports.cpp - the wire format of reports, and the hosts made of them. A host
// path is its name, u32 objects, each u8 kind, u32 index, name, f64 bandwidth and f64 latency of
// its uplink.
#include "topology/sources/job/reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "topology/bytes.hpp"
#include "topology/pci_address.hpp"

namespace gradcoll {

namespace {

// This is far more than hwloc nests, and far less than a tree may.
constexpr std::uint32_t max_objects = 128;

/// Addresses are longer than names, since switches may be host lists.
constexpr std::size_t max_address_bytes = std::size_t{1} << 16;

std::string_view cut(std::string_view text) {
    return text.substr(0, max_name_bytes);
}

/// Returns nothing if the address is too long: a part of it would name other switches.
std::string_view whole_or_nothing(std::string_view text) {
    return text.size() <= max_address_bytes ? text : std::string_view();
}

void write_facts(ByteWriter& writer, const MachineFacts& facts) {
    writer.number(facts.cores);
    writer.number(facts.hidden_cpus);
    writer.number(static_cast<std::uint8_t>(facts.shapeless));
    writer.text(cut(facts.unbound_over));
}

bool read_facts(ByteReader& reader, MachineFacts& facts) {
    std::uint8_t shapeless = 0;
    if (!reader.number(facts.cores) || !reader.number(facts.hidden_cpus) ||
        !reader.number(shapeless) || !reader.text(facts.unbound_over, max_name_bytes))
        return false;
    facts.shapeless = shapeless != 0;
    return true;
}

/// No GPU has so many links, and no PCI address is so long.
constexpr std::size_t max_gpu_links = 256;
constexpr std::size_t max_target_bytes = 128;

void write_gpu(ByteWriter& writer, const RankGpu& gpu) {
    writer.text(gpu.bus_id);
    if (gpu.bus_id.empty()) return;
    writer.text(host_path_bytes({"", gpu.path}));
    const std::size_t count = std::min(gpu.links.size(), max_gpu_links);
    writer.number(static_cast<std::uint32_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
        writer.text(std::string_view(gpu.links[i].target).substr(0, max_target_bytes));
        writer.number(static_cast<std::uint8_t>(gpu.links[i].to_switch));
        writer.number(gpu.links[i].gbytes_per_s);
    }
}

bool read_links(ByteReader& reader, std::vector<GpuLink>& links) {
    std::uint32_t count = 0;
    if (!reader.number(count) || count > max_gpu_links) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        GpuLink link;
        std::uint8_t to_switch = 0;
        if (!reader.text(link.target, max_target_bytes) || !reader.number(to_switch) ||
            !reader.number(link.gbytes_per_s) || !is_link_figure(link.gbytes_per_s))
            return false;
        link.to_switch = to_switch != 0;
        links.push_back(std::move(link));
    }
    return true;
}

bool read_gpu(ByteReader& reader, RankGpu& gpu) {
    if (!reader.text(gpu.bus_id, max_target_bytes)) return false;
    if (gpu.bus_id.empty()) return true;
    std::string path_bytes;
    if (!PciAddress::from(gpu.bus_id) || !reader.text(path_bytes, reader.size_left())) return false;
    Result<HostPath> path = host_path_from(path_bytes);
    if (!path.ok()) return false;
    gpu.path = std::move(path->objects);
    if (!gpu.path.empty() && gpu.path.back().kind != VertexKind::gpu) return false;
    return read_links(reader, gpu.links);
}

/// Troubles counts failures on many ranks, and keeps the first one for the note.
struct Troubles {
    std::string first;
    std::size_t count = 0;

    void add(std::size_t rank, const std::string& reason) {
        if (count++ == 0) first = fmt::format("rank {}: {}", rank, with_plain_characters(reason));
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
    std::vector<RankGpu> gpus;  ///< by rank of the host, in their order
};

void place_on_gpus(ReportedHost& reported, std::vector<std::string>& notes) {
    std::vector<HostPath> paths;
    for (JobHost::Rank& rank : reported.host.ranks) paths.push_back(std::move(rank.path));
    place_on_gpus(paths, reported.gpus, notes);
    for (std::size_t i = 0; i < paths.size(); ++i)
        reported.host.ranks[i].path = std::move(paths[i]);
}

/// Adds a rank to its host; the host's other facts are those of its lowest rank.
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
        host.unbound_over = with_plain_characters(std::move(report.facts.unbound_over));
    host.ranks.push_back({rank, report.world_rank, std::move(report.path), report.gpu.bus_id});
    reported.gpus.push_back(std::move(report.gpu));
}

}  // namespace

std::string host_path_bytes(const HostPath& path) {
    ByteWriter writer;
    writer.text(path.host_name);
    writer.number(static_cast<std::uint32_t>(path.objects.size()));
    for (const HostPath::Object& object : path.objects) {
        writer.number(static_cast<std::uint8_t>(object.kind));
        writer.number(object.index);
        writer.text(object.name);
        writer.number(object.uplink.bandwidth_gbytes_per_s);
        writer.number(object.uplink.latency_us);
    }
    return writer.take();
}

Result<HostPath> host_path_from(std::string_view bytes) {
    ByteReader reader(bytes);
    HostPath path;
    std::uint32_t count = 0;
    if (!reader.text(path.host_name, max_name_bytes) || !reader.number(count) ||
        count > max_objects)
        return Status(Code::corrupt,
                      fmt::format("host path of {} bytes: bad name or object count", bytes.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint8_t kind = 0;
        HostPath::Object object{};
        if (!reader.number(kind) || !reader.number(object.index) ||
            !reader.text(object.name, max_name_bytes) ||
            !reader.number(object.uplink.bandwidth_gbytes_per_s) ||
            !reader.number(object.uplink.latency_us) ||
            !is_link_figure(object.uplink.bandwidth_gbytes_per_s) ||
            !is_link_figure(object.uplink.latency_us) || kind == 0 ||
            kind > static_cast<std::uint8_t>(VertexKind::group))
            return Status(Code::corrupt,
                          fmt::format("host path of {} bytes: bad object {}", bytes.size(), i));
        object.kind = static_cast<VertexKind>(kind);
        path.objects.push_back(std::move(object));
    }
    if (reader.size_left() != 0)
        return Status(Code::corrupt,
                      fmt::format("host path: {} bytes too many", reader.size_left()));
    return path;
}

std::string report_bytes(const RankReport& report) {
    ByteWriter writer;
    writer.number(report.first_on_host);
    writer.number(report.world_rank);
    writer.text(cut(report.trouble));
    writer.text(whole_or_nothing(report.slurm_address));
    writer.text(whole_or_nothing(report.slurm_pattern));
    write_facts(writer, report.facts);
    write_gpu(writer, report.gpu);
    writer.text(host_path_bytes(report.path));
    return writer.take();
}

Result<RankReport> report_from(std::string_view bytes, std::size_t rank_count) {
    ByteReader reader(bytes);
    RankReport report{};
    std::string path_bytes;
    if (!reader.number(report.first_on_host) || report.first_on_host >= rank_count ||
        !reader.number(report.world_rank) || !reader.text(report.trouble, max_name_bytes) ||
        !reader.text(report.slurm_address, max_address_bytes) ||
        !reader.text(report.slurm_pattern, max_address_bytes) ||
        !read_facts(reader, report.facts) || !read_gpu(reader, report.gpu) ||
        !reader.text(path_bytes, reader.size_left()) || reader.size_left() != 0)
        return Status(Code::corrupt,
                      fmt::format("host report of {} bytes is malformed", bytes.size()));
    report.path = GRADCOLL_VALUE(host_path_from(path_bytes));
    return report;
}

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
