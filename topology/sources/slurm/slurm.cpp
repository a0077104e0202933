// topology/sources/slurm/slurm.cpp - what SLURM says of switches: addresses of hosts in the
// environment of their ranks, else its files.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/options.hpp"
#include "fabric/host_list.hpp"
#include "fabric/slurm/slurm.hpp"
#include "topology/sources/cluster/interfaces.hpp"
#include "topology/sources/cluster/kept_networks.hpp"
#include "topology/sources/cluster/switches_source.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

/// Returns whether the address names switches. Without a topology plugin it is the node alone.
bool names_switches(const JobHost& host) {
    if (!host.slurm_pattern.empty()) return host.slurm_pattern != "node";
    return host.slurm_address != host.name && host.slurm_address.find('.') != std::string::npos;
}

/// Returns whether all hosts have one address, though every host of SLURM has its own: it is then
/// that of the host of the launcher, which Hydra passes on with the rest of its environment.
bool is_handed_on(std::span<const SlurmAddress> addresses) {
    return addresses.size() > 1 &&
           std::all_of(addresses.begin(), addresses.end(), [&](const SlurmAddress& address) {
               return address.address == addresses.front().address;
           });
}

std::vector<SlurmAddress> addresses_of(const std::vector<JobHost>& hosts, SourceNotes& notes) {
    std::vector<SlurmAddress> addresses;
    std::vector<std::string> differing;
    for (const JobHost& host : hosts) {
        if (!names_switches(host)) continue;
        addresses.push_back({host.name, host.slurm_address, host.slurm_pattern});
        if (host.addresses_differ) differing.push_back(host.name);
    }
    if (is_handed_on(addresses)) return {};
    if (!differing.empty())
        notes.push_back(
            fmt::format("the ranks on {} have different SLURM_TOPOLOGY_ADDR: that of the lowest "
                        "rank counts",
                        hosts_in_words(differing)));
    return addresses;
}

/// Returns the folders where SLURM keeps its files, most likely first.
std::vector<std::filesystem::path> slurm_folders() {
    std::vector<std::filesystem::path> folders;
    if (const std::string conf = foreign_variable("SLURM_CONF"); !conf.empty())
        folders.push_back(std::filesystem::path(conf).parent_path());
    folders.emplace_back("/etc/slurm");
    return folders;
}

/// Reads addresses; the errors say themselves where they come from.
Result<Switches> from_addresses(std::span<const SlurmAddress> addresses) {
    const Fabric fabric = GRADCOLL_VALUE(fabric_from_slurm_addresses(addresses));
    return switches_of(fabric, "SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR");
}

/// Returns the files that may describe the switches, in the order in which they count.
std::vector<std::string> slurm_files() {
    std::vector<std::string> files;
    for (const std::filesystem::path& folder : slurm_folders())
        for (const char* name : {"topology.yaml", "topology.conf"})  // in SLURM's order
            files.push_back((folder / name).string());
    return files;
}

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

Result<Switches> from_slurm_files() {
    const std::vector<std::string> files = slurm_files();
    const auto file = std::find_if(files.begin(), files.end(), exists);
    if (file != files.end()) return switches_from_file(*file);
    return Status(
        Code::invalid_argument,
        fmt::format(
            "SLURM says nothing about switches: no host has a SLURM_TOPOLOGY_ADDR of "
            "its own with a switch in it (the scheduler needs TopologyPlugin=topology/tree or "
            "topology/block), and there is none of {}",
            fmt::join(files, ", ")));
}

bool says_that_there_are_no_switches(const JobHost& host) {
    return !host.slurm_address.empty() && !names_switches(host);
}

/// Reads SLURM's files for ranks in a job of SLURM that have no addresses of their own, because
/// another launcher started them. Returns nothing if SLURM has no such file, or one that does not
/// know all hosts.
std::optional<Switches> from_files_of_job(const Job& job, SourceNotes& notes) {
    const std::vector<std::string> files = slurm_files();
    if (foreign_variable("SLURM_JOB_ID").empty() ||
        std::none_of(files.begin(), files.end(), exists) ||
        std::any_of(job.hosts.begin(), job.hosts.end(), says_that_there_are_no_switches))
        return {};
    Result<Switches> found = from_slurm_files();
    if (!found.ok()) {
        notes.push_back(found.status().message() + "; taken is no switch level");
        return {};
    }
    std::vector<std::string> names;
    for (const JobHost& host : job.hosts) names.push_back(host.name);
    if (!knows_all(*found->tree, names)) return {};
    return std::move(*found);
}

/// Most Ethernet has this rate. Messages that are cut for it lose little elsewhere; long ones that
/// are not take 1.3 times as long on a slow link.
constexpr double usual_gbytes_per_s = 1.25;

double likely_host_gbytes_per_s() {
    const double fastest = fastest_interface_gbytes_per_s();
    return fastest > 0 ? fastest : usual_gbytes_per_s;
}

bool lacks_rates(const SwitchTree& switches) {
    return std::any_of(switches.hosts.begin(), switches.hosts.end(), [](const auto& host) {
        return host.second.uplink.bandwidth_gbytes_per_s <= 0;
    });
}

/// Adds a likely rate, since SLURM describes the shape of a network and, except in some files, no
/// rates.
Switches with_likely_rates(const Job& job, Switches found) {
    if (job.can_be_measured && found.tree && lacks_rates(*found.tree))
        found.host_gbytes_per_s = likely_host_gbytes_per_s();
    return found;
}

Result<Switches> from_slurm(const Job& job, SourceNotes& notes) {
    const std::vector<SlurmAddress> addresses = addresses_of(job.hosts, notes);
    return with_likely_rates(
        job, GRADCOLL_VALUE(addresses.empty() ? from_slurm_files() : from_addresses(addresses)));
}

Switches without_addresses(const Job& job, SourceNotes& notes) {
    if (job.can_be_measured)
        if (auto named = from_files_of_job(job, notes))
            return with_likely_rates(job, std::move(*named));
    if (job.may_use_kept)
        if (auto kept = kept_network(job.hosts)) return std::move(*kept);
    Switches unknown;
    if (job.can_be_measured) unknown.host_gbytes_per_s = likely_host_gbytes_per_s();
    return unknown;
}

Result<Switches> best_without_asking(const Job& job, SourceNotes& notes) {
    if (job.hosts.size() < 2) return Switches{};
    const std::vector<SlurmAddress> addresses = addresses_of(job.hosts, notes);
    if (addresses.empty()) return without_addresses(job, notes);
    Result<Switches> found = from_addresses(addresses);
    if (found.ok()) return with_likely_rates(job, std::move(*found));
    notes.push_back(found.status().message() + "; taken is no switch level");
    return Switches{};
}

template <Result<Switches> find(const Job&, SourceNotes&)>
std::unique_ptr<TreeSource> make_switches(std::string) {
    return std::make_unique<SwitchesSource>(find);
}

}  // namespace

/// Makes the row for "auto". Nobody asked for the addresses, so a fault in them is only a note.
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
