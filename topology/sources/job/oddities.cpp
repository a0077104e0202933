// topology/sources/job/oddities.cpp - notes on hosts that may differ from what the tree shows.
// Ordinary machines get none: a note is added only if another tree is possible.
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "fabric/host_list.hpp"
#include "topology/sources/job/job_tree.hpp"

namespace gradcoll {

namespace {

using Names = std::vector<std::string>;

template <class IsOdd>
Names names_where(std::span<const JobHost> hosts, IsOdd&& is_odd) {
    Names names;
    for (const JobHost& host : hosts)
        if (is_odd(host)) names.push_back(host.name);
    return names;
}

void note_unbound(std::span<const JobHost> hosts, std::vector<std::string>& notes) {
    std::map<std::string, Names> hosts_over;
    for (const JobHost& host : hosts)
        if (host.ranks.size() > 1 && host.unbound_count > 0)
            hosts_over[host.unbound_over].push_back(host.name);
    for (const auto& [parts, names] : hosts_over)
        notes.push_back(
            fmt::format("ranks on {} are bound to none of its {}: they are taken as equally near "
                        "to all (a launcher binds with mpirun --bind-to core or srun "
                        "--cpu-bind=cores)",
                        hosts_in_words(names), parts));
}

/// Notes hosts without shape. With two cores or two ranks only one tree is possible.
void note_shapeless(std::span<const JobHost> hosts, std::vector<std::string>& notes) {
    const Names names = names_where(
        hosts, [](const JobHost& host) { return host.facts.shapeless && host.ranks.size() > 2; });
    if (!names.empty())
        notes.push_back(
            fmt::format("hwloc shows neither packages nor caches on {} (a container or a virtual "
                        "machine may hide them): cores there are taken as equally near",
                        hosts_in_words(names)));
}

void note_hidden(std::span<const JobHost> hosts, std::vector<std::string>& notes) {
    const Names names = names_where(hosts, [](const JobHost& host) {
        return host.facts.hidden_cpus > 0 && host.ranks.size() > 1;
    });
    if (!names.empty())
        notes.push_back(fmt::format(
            "hwloc shows fewer CPUs on {} than the system has (a container may hide them): ranks "
            "on the others are taken as bound to none",
            hosts_in_words(names)));
}

/// Notes hosts with more ranks than cores, unless all hosts are alike in that.
void note_crowded(std::span<const JobHost> hosts, std::vector<std::string>& notes) {
    const auto known = [](const JobHost& host) { return host.facts.cores > 0; };
    const auto crowded = [&](const JobHost& host) {
        return known(host) && host.ranks.size() > host.facts.cores;
    };
    const Names names = names_where(hosts, crowded);
    const Names roomy =
        names_where(hosts, [&](const JobHost& host) { return known(host) && !crowded(host); });
    if (!names.empty() && !roomy.empty())
        notes.push_back(
            fmt::format("hosts have different numbers of cores: on {} ranks outnumber them, which "
                        "the tree does not show",
                        hosts_in_words(names)));
}

void note_namesakes(std::span<const JobHost> hosts, std::vector<std::string>& notes) {
    std::map<std::string, int> count_of;
    for (const JobHost& host : hosts) ++count_of[host.name];
    Names names;
    for (const auto& [name, count] : count_of)
        if (count > 1) names.push_back(name);
    if (!names.empty())
        notes.push_back(
            fmt::format("several hosts that share no memory are called {} (containers?): they are "
                        "taken as hosts of their own, at one place where a source names hosts",
                        hosts_in_words(names)));
}

}  // namespace

void note_oddities(std::span<const JobHost> hosts, std::vector<std::string>& notes) {
    note_namesakes(hosts, notes);
    note_shapeless(hosts, notes);
    note_hidden(hosts, notes);
    note_unbound(hosts, notes);
    note_crowded(hosts, notes);
}

}  // namespace gradcoll
