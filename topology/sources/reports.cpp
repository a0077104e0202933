// topology/sources/reports.cpp - see reports.hpp.
#include "topology/sources/reports.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "topology/bytes.hpp"
#include "topology/sources/hosts_file.hpp"

namespace gradcoll {

namespace {

struct Host {
    std::vector<int> ranks;
    std::vector<HostPath> paths;

    const std::string& name() const { return paths.front().host_name; }
};

/// The hosts by their lowest rank, and the first trouble that a rank had.
struct Hosts {
    std::map<std::uint32_t, Host> by_first_rank;
    std::string trouble;
};

Result<RankReport> report_from(std::string_view bytes, std::size_t rank_count) {
    ByteReader reader(bytes);
    RankReport report;
    std::string path_bytes;
    if (!reader.number(report.first_on_host) || report.first_on_host >= rank_count ||
        !reader.text(report.trouble, max_name_bytes) ||
        !reader.text(path_bytes, reader.size_left()) || reader.size_left() != 0)
        return Status(Code::corrupt,
                      fmt::format("host report of {} bytes is malformed", bytes.size()));
    Result<HostPath> path = host_path_from(path_bytes);
    if (!path.ok()) return path.status();
    report.path = std::move(*path);
    return report;
}

Status sort_by_host(std::span<const std::string> reports, Hosts& hosts) {
    for (std::size_t r = 0; r < reports.size(); ++r) {
        Result<RankReport> report = report_from(reports[r], reports.size());
        if (!report.ok())
            return {report.status().code(),
                    fmt::format("rank {}: {}", r, report.status().message())};
        Host& host = hosts.by_first_rank[report->first_on_host];
        host.ranks.push_back(static_cast<int>(r));
        host.paths.push_back(std::move(report->path));
        if (hosts.trouble.empty() && !report->trouble.empty())
            hosts.trouble = fmt::format(" (rank {}: {})", r, report->trouble);
    }
    return {};
}

Result<HostsFile> hosts_file_of(const WrittenSource& source) {
    if (source.form != SourceForm::hosts) return HostsFile();
    const Result<std::string> text = read_file(source.value);
    return text.ok() ? HostsFile::parse(*text, source.value) : text.status();
}

Result<TreeSpec> described_host(const WrittenSource& source, const HostsFile& file,
                                const Host& host) {
    if (source.form == SourceForm::synthetic) return host_from_synthetic(source.value, host.ranks);
    if (source.form == SourceForm::xml) return host_from_xml(source.value, host.ranks);
    const Result<std::string> description = file.description_of(host.name());
    return description.ok() ? host_from_description(*description, host.ranks)
                            : description.status();
}

Status describe(const WrittenSource& source, const Hosts& hosts, TreeSpec& top) {
    const Result<HostsFile> file = hosts_file_of(source);
    if (!file.ok())
        return {file.status().code(),
                fmt::format("{}: {}", source.origin, file.status().message())};
    for (const auto& [first, host] : hosts.by_first_rank) {
        Result<TreeSpec> spec = described_host(source, *file, host);
        if (!spec.ok())
            return {spec.status().code(), fmt::format("{}: host {}: {}", source.origin, host.name(),
                                                      spec.status().message())};
        spec->name = host.name();
        top.children.push_back(std::move(*spec));
    }
    return {};
}

}  // namespace

std::string report_bytes(const RankReport& report) {
    ByteWriter writer;
    writer.number(report.first_on_host);
    writer.text(report.trouble);
    writer.text(host_path_bytes(report.path));
    return writer.take();
}

bool needs_reports(SourceForm form) {
    return form == SourceForm::discover || form == SourceForm::synthetic ||
           form == SourceForm::xml || form == SourceForm::hosts;
}

Result<DiscoveredTree> tree_from_reports(const WrittenSource& source,
                                         std::span<const std::string> reports) {
    Hosts hosts;
    GRADCOLL_TRY(sort_by_host(reports, hosts));
    TreeSpec top;
    std::string origin = source.origin + " on hosts told apart by the shared-memory split";
    if (source.form == SourceForm::discover) {
        origin = "discovered: hwloc + shared-memory split" + hosts.trouble;
        for (const auto& [first, host] : hosts.by_first_rank)
            top.children.push_back(merge_host(host.name(), host.paths, host.ranks));
    } else {
        GRADCOLL_TRY(describe(source, hosts, top));
    }
    Result<Tree> tree = Tree::make(top);
    if (!tree.ok()) return tree.status();
    return DiscoveredTree{std::move(*tree), std::move(origin)};
}

}  // namespace gradcoll
