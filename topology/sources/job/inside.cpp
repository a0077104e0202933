// topology/sources/job/inside.cpp - see inside.hpp.
#include "topology/sources/job/inside.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "topology/fabric/host_list.hpp"
#include "topology/read_file.hpp"
#include "topology/sources/host/gpu_places.hpp"
#include "topology/sources/host/host_subtree.hpp"
#include "topology/sources/host/nccl.hpp"

namespace gradcoll {

namespace {

/// As its ranks found themselves; flat if they did not look.
TreeSpec merged(const JobHost& host) {
    std::vector<HostPath> paths;
    for (const JobHost::Rank& rank : host.ranks) paths.push_back(rank.path);
    return merge_host(host.name, paths, ranks_of(host));
}

/// `places` are cores or GPUs.
TreeSpec dealt(const JobHost& host, const std::vector<HostPath>& places) {
    std::vector<std::string> names;
    for (const HostPath& place : places)
        names.push_back(place.objects.empty() ? "" : place.objects.back().name);
    std::vector<HostPath> paths;
    for (const std::size_t place : dealt_to_gpus(host.ranks.size(), gpus_of(host), names))
        paths.push_back(places[place]);
    return merge_host(host.name, paths, ranks_of(host));
}

/// Vertices that ranks are dealt to.
std::size_t count_places(const TreeSpec& spec) {
    std::size_t count = spec.rank >= 0 && spec.kind == VertexKind::gpu ? 1 : 0;
    bool has_leaves = false;
    for (const TreeSpec& child : spec.children) {
        has_leaves |= child.rank >= 0 && child.kind != VertexKind::gpu;
        count += count_places(child);
    }
    return count + (has_leaves ? 1 : 0);
}

Status of_host(const std::string& host_name, const Status& status) {
    return {status.code(), fmt::format("host {}: {}", host_name, status.message())};
}

}  // namespace

Result<Insides> Insides::of(const InsideSource& source) {
    Insides insides(source);
    if (source.form == InsideSource::Form::hosts) {
        Result<HostsFile> hosts = HostsFile::read(source.value);
        if (!hosts.ok()) return hosts.status();
        insides.hosts_ = std::move(*hosts);
    }
    if (source.form == InsideSource::Form::nccl) {
        Result<std::string> text = read_file(source.value);
        if (!text.ok()) return text.status();
        insides.nccl_ = std::move(*text);
    }
    return insides;
}

std::vector<std::string> Insides::host_names() const {
    return hosts_.host_names();
}

Result<Insides::Places> Insides::read_places(const std::string& description) const {
    Places places;
    Result<std::vector<HostPath>> paths =
        source_.on_gpus                                 ? described_gpus(description, places.notes)
        : source_.form == InsideSource::Form::synthetic ? cores_from_synthetic(description)
        : source_.form == InsideSource::Form::xml       ? cores_from_xml(description)
                                                        : described_cores(description);
    if (!paths.ok()) return paths.status();
    places.paths = std::move(*paths);
    return places;
}

Result<const Insides::Places*> Insides::places_of(const std::string& host_name) {
    if (source_.form == InsideSource::Form::hwloc) return nullptr;
    const bool by_host = source_.form == InsideSource::Form::hosts;
    const auto description = by_host ? hosts_.description_of(host_name) : source_.value;
    if (!description) return nullptr;
    const auto known = places_of_description_.find(*description);
    if (known != places_of_description_.end()) return &known->second;
    Result<Places> places = read_places(*description);
    if (!places.ok()) return of_host(host_name, places.status());
    for (std::string& note : places->notes) note = fmt::format("\"{}\": {}", *description, note);
    return &places_of_description_.emplace(*description, std::move(*places)).first->second;
}

Result<TreeSpec> Insides::from_nccl(std::span<const int> ranks, std::span<const std::string> gpus,
                                    std::vector<std::string>& notes) const {
    Result<TreeSpec> host = host_from_nccl(nccl_, ranks, notes, gpus);
    if (host.ok()) return host;
    return Status(host.status().code(),
                  fmt::format("file \"{}\": {}", source_.value, host.status().message()));
}

Result<std::size_t> Insides::nccl_places() const {
    constexpr int more_than_gpus = 4096;
    std::vector<int> ranks(more_than_gpus);
    std::iota(ranks.begin(), ranks.end(), 0);
    std::vector<std::string> notes;
    const Result<TreeSpec> host = from_nccl(ranks, {}, notes);
    if (!host.ok()) return host.status();
    return count_places(*host);
}

Result<std::size_t> Insides::places_on(const std::string& host_name) {
    if (source_.form == InsideSource::Form::nccl) return nccl_places();
    const auto places = places_of(host_name);
    if (!places.ok()) return places.status();
    return *places == nullptr ? 0 : (*places)->paths.size();
}

Result<TreeSpec> Insides::subtree(const JobHost& host, std::vector<std::string>& undescribed,
                                  std::vector<std::string>& notes) {
    if (source_.form == InsideSource::Form::nccl) {
        Result<TreeSpec> spec = from_nccl(ranks_of(host), gpus_of(host), notes);
        if (spec.ok()) spec->name = host.name;
        return spec;
    }
    const auto places = places_of(host.name);
    if (!places.ok()) return places.status();
    if (*places != nullptr) {
        notes.insert(notes.end(), (*places)->notes.begin(), (*places)->notes.end());
        return dealt(host, (*places)->paths);
    }
    undescribed.push_back(host.name);
    return merged(host);
}

Result<std::vector<HostSubtree>> Insides::subtrees(std::span<const JobHost> hosts,
                                                   std::vector<std::string>& notes) {
    std::vector<HostSubtree> subtrees;
    std::vector<std::string> without;
    for (const JobHost& host : hosts) {
        Result<TreeSpec> spec = subtree(host, without, notes);
        if (!spec.ok()) return spec.status();
        subtrees.push_back({host.ranks.front().rank, std::move(*spec)});
    }
    if (source_.form == InsideSource::Form::hwloc || without.empty()) return subtrees;
    if (without.size() == hosts.size())
        return Status(Code::invalid_argument,
                      fmt::format("\"{}\" describes none of the hosts {}, and has nothing for *",
                                  source_.value, hosts_in_words(without)));
    notes.push_back(fmt::format("\"{}\" does not describe {}: ranks there are equally near",
                                source_.value, hosts_in_words(without)));
    return subtrees;
}

}  // namespace gradcoll
