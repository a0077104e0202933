// topology/sources/cluster/sources.cpp - switches from files, from what SLURM says (addresses of
// hosts in the environment of their ranks, else its files), and as they were measured for this job,
// or kept.
#include "topology/sources/cluster/sources.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <utility>

#include "base/options.hpp"
#include "base/text.hpp"
#include "topology/fabric/formats.hpp"
#include "topology/fabric/host_list.hpp"
#include "topology/fabric/slurm.hpp"
#include "topology/probe/cache.hpp"

namespace gradcoll {

namespace {

Status about(const std::string& what, const Status& status) {
    return {status.code(), fmt::format("{}: {}", what, status.message())};
}

/// `where` the fabric is from, for errors.
Result<Switches> switches_of(const Result<Fabric>& fabric, const std::string& where,
                             const std::string& origin) {
    if (!fabric.ok()) return about(where, fabric.status());
    Result<SwitchTree> tree = switch_tree(*fabric);
    if (!tree.ok()) return about(where, tree.status());
    return Switches{std::move(*tree), origin};
}

/// Errors: io; invalid_argument naming the file.
Result<Switches> switches_from_file(const std::string& path) {
    const std::string text = GRADCOLL_VALUE(read_file(path));
    const auto format = fabric_format_of(text);
    if (!format)
        return Status(Code::invalid_argument,
                      fmt::format("file \"{}\" holds no switches in a format that is known", path));
    return switches_of(fabric_from(text, *format), fmt::format("file \"{}\"", path),
                       fmt::format("{} {}", name_of(*format), path));
}

Result<Switches> switches_from_cache(const std::string& path) {
    const std::string text = GRADCOLL_VALUE(read_file(path));
    Result<SwitchTree> tree = switches_from_probe_cache(text);
    if (!tree.ok()) return about(fmt::format("probe cache \"{}\"", path), tree.status());
    return Switches{std::move(*tree), fmt::format("measurements in {}", path)};
}

/// Measured for this job, or kept for one that is not there.
Result<Switches> measured_or_kept(const Job& job, const std::string& cache_file) {
    if (job.can_be_measured)
        return job.measured ? Switches{job.measured, "measurements", false} : Switches{};
    if (!cache_file.empty()) return switches_from_cache(cache_file);
    return Status(Code::invalid_argument,
                  "a cluster that is not there cannot be measured; expected file:FILE, "
                  "probe:CACHE-FILE, slurm or none between hosts");
}

/// Without a topology plugin the address is the node alone.
bool names_switches(const JobHost& host) {
    if (!host.slurm_pattern.empty()) return host.slurm_pattern != "node";
    return host.slurm_address != host.name && host.slurm_address.find('.') != std::string::npos;
}

std::vector<SlurmAddress> addresses_of(const std::vector<JobHost>& hosts,
                                       std::vector<std::string>& notes) {
    std::vector<SlurmAddress> addresses;
    std::vector<std::string> differing;
    for (const JobHost& host : hosts) {
        if (!names_switches(host)) continue;
        addresses.push_back({host.name, host.slurm_address, host.slurm_pattern});
        if (host.addresses_differ) differing.push_back(host.name);
    }
    if (!differing.empty())
        notes.push_back(
            fmt::format("the ranks on {} have different SLURM_TOPOLOGY_ADDR: that of the lowest "
                        "rank counts",
                        hosts_in_words(differing)));
    return addresses;
}

/// The folders where SLURM keeps its files, the first that is known first.
std::vector<std::filesystem::path> slurm_folders() {
    std::vector<std::filesystem::path> folders;
    if (const std::string conf = foreign_variable("SLURM_CONF"); !conf.empty())
        folders.push_back(std::filesystem::path(conf).parent_path());
    folders.emplace_back("/etc/slurm");
    return folders;
}

/// Its errors say themselves where they are from.
Result<Switches> from_addresses(std::span<const SlurmAddress> addresses) {
    const Fabric fabric = GRADCOLL_VALUE(fabric_from_slurm_addresses(addresses));
    return switches_of(fabric, "SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR");
}

Result<Switches> from_slurm_files() {
    std::string looked_at;
    for (const std::filesystem::path& folder : slurm_folders())
        for (const char* name : {"topology.yaml", "topology.conf"}) {  // as SLURM prefers them
            const std::string path = (folder / name).string();
            std::error_code ignored;
            if (std::filesystem::exists(path, ignored)) return switches_from_file(path);
            looked_at += fmt::format("{}{}", looked_at.empty() ? "" : ", ", path);
        }
    return Status(
        Code::invalid_argument,
        fmt::format("SLURM says nothing about switches: no host has SLURM_TOPOLOGY_ADDR with a "
                    "switch in it (the scheduler needs TopologyPlugin=topology/tree or "
                    "topology/block), and there is none of {}",
                    looked_at));
}

using Notes = std::vector<std::string>;

Result<Switches> from_slurm(const Job& job, Notes& notes) {
    const std::vector<SlurmAddress> addresses = addresses_of(job.hosts, notes);
    if (addresses.empty()) return from_slurm_files();
    return from_addresses(addresses);
}

Result<Switches> best_without_asking(const Job& job, Notes& notes) {
    if (job.hosts.size() < 2) return Switches{};
    const std::vector<SlurmAddress> addresses = addresses_of(job.hosts, notes);
    if (addresses.empty()) return Switches{};
    Result<Switches> found = from_addresses(addresses);
    if (found.ok()) return found;
    notes.push_back(found.status().message() + "; taken is no switch level");
    return Switches{};
}

class SwitchesSource : public TreeSource {
  public:
    using Find = std::function<Result<Switches>(const Job& job, Notes& notes)>;
    explicit SwitchesSource(Find find, Needs needs = {Reports::host_names, false, {}})
        : find_(std::move(find)), needs_(std::move(needs)) {}

    Needs needs() const override { return needs_; }
    Status learn(const Job& job, TreeDraft& draft) override {
        Result<Switches> switches = find_(job, draft.notes);
        if (switches.ok()) draft.switches = std::move(*switches);
        return switches.status();
    }

  private:
    Find find_;
    Needs needs_;
};

}  // namespace

std::unique_ptr<TreeSource> no_switches(std::string) {
    return std::make_unique<SwitchesSource>([](const Job&, Notes&) { return Switches{}; });
}

std::unique_ptr<TreeSource> slurm_source(std::string) {
    return std::make_unique<SwitchesSource>(from_slurm);
}

std::unique_ptr<TreeSource> automatic_source(std::string) {
    return std::make_unique<SwitchesSource>(best_without_asking);
}

std::unique_ptr<TreeSource> fabric_source(std::string path) {
    return std::make_unique<SwitchesSource>(
        [path = std::move(path)](const Job&, Notes&) { return switches_from_file(path); });
}

bool holds_fabric(const PathContent& content) {
    return !content.is_folder && !content.begins_with('<') && !content.begins_with('{') &&
           fabric_format_of(content.text).has_value();
}

std::unique_ptr<TreeSource> probe_source(std::string cache_file) {
    return std::make_unique<SwitchesSource>(
        [cache_file](const Job& job, Notes&) { return measured_or_kept(job, cache_file); },
        Needs{Reports::host_names, true, cache_file});
}

std::unique_ptr<TreeSource> probe_cache_source(std::string path) {
    return std::make_unique<SwitchesSource>(
        [path = std::move(path)](const Job&, Notes&) { return switches_from_cache(path); });
}

bool holds_probe_cache(const PathContent& content) {
    return is_probe_cache(trimmed(content.text));
}

}  // namespace gradcoll
