// topology/sources/cluster/between.cpp - see between.hpp.
#include "topology/sources/cluster/between.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/options.hpp"
#include "topology/fabric/fabric.hpp"
#include "topology/fabric/formats.hpp"
#include "topology/fabric/slurm.hpp"
#include "topology/probe/cache.hpp"

namespace gradcoll {

namespace {

Status about(const std::string& what, const Status& status) {
    return {status.code(), fmt::format("{}: {}", what, status.message())};
}

/// `where` the fabric is from, for messages.
Result<Switches> switches_of(const Result<Fabric>& fabric, const std::string& where,
                             const std::string& origin) {
    if (!fabric.ok()) return about(where, fabric.status());
    Result<SwitchTree> tree = switch_tree(*fabric);
    if (!tree.ok()) return about(where, tree.status());
    return Switches{std::move(*tree), origin};
}

Result<Switches> from_file(const std::string& path) {
    const Result<std::string> text = read_file(path);
    if (!text.ok()) return text.status();
    const auto format = fabric_format_of(*text);
    if (!format)
        return Status(Code::invalid_argument,
                      fmt::format("file \"{}\" holds no switches in a format that is known", path));
    return switches_of(fabric_from(*text, *format), fmt::format("file \"{}\"", path),
                       fmt::format("{} {}", name_of(*format), path));
}

Result<Switches> from_cache(const std::string& path) {
    const Result<std::string> text = read_file(path);
    if (!text.ok()) return text.status();
    Result<SwitchTree> tree = switches_from_probe_cache(*text);
    if (!tree.ok()) return about(fmt::format("probe cache \"{}\"", path), tree.status());
    return Switches{std::move(*tree), fmt::format("measurements in {}", path)};
}

// ---- SLURM
// -----------------------------------------------------------------------------------------------------------

/// Without a topology plugin the address is the node alone.
bool names_switches(const JobHost& host) {
    if (!host.slurm_pattern.empty()) return host.slurm_pattern != "node";
    return host.slurm_address != host.name && host.slurm_address.find('.') != std::string::npos;
}

std::vector<SlurmAddress> addresses_of(std::span<const JobHost> hosts,
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
    const Result<Fabric> fabric = fabric_from_slurm_addresses(addresses);
    if (!fabric.ok()) return fabric.status();
    return switches_of(fabric, "SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR");
}

Result<Switches> from_slurm_files() {
    std::string looked_at;
    for (const std::filesystem::path& folder : slurm_folders())
        for (const char* name : {"topology.yaml", "topology.conf"}) {  // as SLURM prefers them
            const std::string path = (folder / name).string();
            std::error_code ignored;
            if (std::filesystem::exists(path, ignored)) return from_file(path);
            looked_at += fmt::format("{}{}", looked_at.empty() ? "" : ", ", path);
        }
    return Status(
        Code::invalid_argument,
        fmt::format("SLURM says nothing about switches: no host has SLURM_TOPOLOGY_ADDR with a "
                    "switch in it (the scheduler needs TopologyPlugin=topology/tree or "
                    "topology/block), and there is none of {}",
                    looked_at));
}

Result<Switches> from_slurm(std::span<const JobHost> hosts, std::vector<std::string>& notes) {
    const std::vector<SlurmAddress> addresses = addresses_of(hosts, notes);
    if (addresses.empty()) return from_slurm_files();
    return from_addresses(addresses);
}

Result<Switches> best_without_asking(std::span<const JobHost> hosts,
                                     std::vector<std::string>& notes) {
    if (hosts.size() < 2) return Switches{};
    const std::vector<SlurmAddress> addresses = addresses_of(hosts, notes);
    if (addresses.empty()) return Switches{};
    Result<Switches> found = from_addresses(addresses);
    if (found.ok()) return found;
    notes.push_back(found.status().message() + "; taken is no switch level");
    return Switches{};
}

}  // namespace

Result<Switches> switches_between(const BetweenSource& source, std::span<const JobHost> hosts,
                                  std::vector<std::string>& notes) {
    switch (source.form) {
        case BetweenSource::Form::automatic:
            return best_without_asking(hosts, notes);
        case BetweenSource::Form::slurm:
            return from_slurm(hosts, notes);
        case BetweenSource::Form::fabric:
            return from_file(source.value);
        case BetweenSource::Form::cache:
            return from_cache(source.value);
        default:
            return Switches{};
    }
}

SwitchTree named_by_own_ranks(SwitchTree tree, std::span<const JobHost> hosts) {
    if (!tree.by_rank) return tree;
    std::unordered_map<std::string, SwitchTree::Host> named;
    for (const JobHost& host : hosts)
        for (const JobHost::Rank& rank : host.ranks) {
            const auto found = tree.hosts.find(std::to_string(rank.world_rank));
            if (found == tree.hosts.end()) continue;
            named.emplace(std::to_string(host.ranks.front().rank), found->second);
            break;
        }
    tree.hosts = std::move(named);
    return tree;
}

}  // namespace gradcoll
