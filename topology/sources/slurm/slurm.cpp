// topology/sources/slurm/slurm.cpp - what SLURM says of switches: addresses of hosts in the
// environment of their ranks, else its files.
#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <utility>

#include "base/options.hpp"
#include "topology/fabric/host_list.hpp"
#include "topology/fabric/slurm/slurm.hpp"
#include "topology/sources/cluster/interfaces.hpp"
#include "topology/sources/cluster/kept_networks.hpp"
#include "topology/sources/cluster/switches_source.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

/// Without a topology plugin the address is the node alone.
bool names_switches(const JobHost& host) {
    if (!host.slurm_pattern.empty()) return host.slurm_pattern != "node";
    return host.slurm_address != host.name && host.slurm_address.find('.') != std::string::npos;
}

std::vector<SlurmAddress> addresses_of(const std::vector<JobHost>& hosts, SourceNotes& notes) {
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

Result<Switches> from_slurm(const Job& job, SourceNotes& notes) {
    const std::vector<SlurmAddress> addresses = addresses_of(job.hosts, notes);
    if (addresses.empty()) return from_slurm_files();
    return from_addresses(addresses);
}

/// What Ethernet mostly has. Messages that are cut for it lose little elsewhere; long ones that are
/// not take 1.3 times as long on a slow link.
constexpr double usual_gbytes_per_s = 1.25;

/// Of hosts that are there.
Switches without_addresses(const Job& job) {
    if (job.may_use_kept)
        if (auto kept = kept_network(job.hosts)) return std::move(*kept);
    Switches unknown;
    if (!job.can_be_measured) return unknown;
    unknown.host_gbytes_per_s = fastest_interface_gbytes_per_s();
    if (unknown.host_gbytes_per_s <= 0) unknown.host_gbytes_per_s = usual_gbytes_per_s;
    return unknown;
}

Result<Switches> best_without_asking(const Job& job, SourceNotes& notes) {
    if (job.hosts.size() < 2) return Switches{};
    const std::vector<SlurmAddress> addresses = addresses_of(job.hosts, notes);
    if (addresses.empty()) return without_addresses(job);
    Result<Switches> found = from_addresses(addresses);
    if (found.ok()) return found;
    notes.push_back(found.status().message() + "; taken is no switch level");
    return Switches{};
}

template <Result<Switches> find(const Job&, SourceNotes&)>
std::unique_ptr<TreeSource> make_switches(std::string) {
    return std::make_unique<SwitchesSource>(find);
}

}  // namespace

/// Nobody asked for the addresses, so what is wrong with them is a note.
SourceRow automatic_source_row() {
    return {.part = Part::between,
            .word = "auto",
            .forms = "auto",
            .make = make_switches<best_without_asking>,
            .discovered = true};
}

SourceRow slurm_source_row() {
    return {.part = Part::between,
            .word = "slurm",
            .forms = "slurm",
            .make = make_switches<from_slurm>,
            .help = "between: SLURM's addresses, else its topology.yaml or topology.conf"};
}

}  // namespace gradcoll
