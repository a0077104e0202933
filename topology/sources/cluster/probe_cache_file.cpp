// topology/sources/cluster/probe_cache_file.cpp - reading with distrust, writing at once or not at
// all.
#include "topology/sources/cluster/probe_cache_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "topology/files.hpp"
#include "topology/probe/cache.hpp"

namespace gradcoll {

namespace {

bool all_different(std::span<const ProbeHost> hosts) {
    std::unordered_set<std::string> names;
    for (const ProbeHost& host : hosts)
        if (host.name.empty() || !names.insert(host.name).second) return false;
    return true;
}

/// The reason if it did not work.
std::string replace_file(const std::string& path, const std::string& text) {
    const std::string temporary = fmt::format("{}.{}.new", path, getpid());
    std::error_code error;
    {
        std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
        file << text;
        file.close();
        if (!file) error = std::make_error_code(std::errc::io_error);
    }
    if (!error) std::filesystem::rename(temporary, path, error);
    if (!error) return {};
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return error.message();
}

}  // namespace

ProbeCacheFile::ProbeCacheFile(std::string path, std::span<const ProbeHost> hosts,
                               std::vector<std::string>& notes)
    : path_(std::move(path)), hosts_(hosts), notes_(notes) {
    if (path_.empty() || all_different(hosts_)) return;
    notes_.push_back(fmt::format(
        "probe cache {}: not used, since hosts of this job have no names of their own", path_));
    path_.clear();
}

std::optional<SwitchTree> ProbeCacheFile::load() {
    std::error_code ignored;
    if (path_.empty() || !std::filesystem::exists(path_, ignored)) return {};
    const Result<std::string> text = read_file(path_);
    if (!text.ok()) {
        notes_.push_back(text.status().message());
        return {};
    }
    if (!is_probe_cache(*text)) {
        notes_.push_back(fmt::format(
            "{} holds no measurements of the probe: measured anew, and the file is left as it is",
            path_));
        path_.clear();
        return {};
    }
    Result<SwitchTree> cached = switches_from_probe_cache(*text);
    if (!cached.ok()) {
        notes_.push_back(fmt::format("{}: {}: measured anew", path_, cached.status().message()));
        return {};
    }
    return by_rank(std::move(*cached));
}

std::optional<SwitchTree> ProbeCacheFile::by_rank(SwitchTree cached) const {
    if (cached.by_rank) {
        notes_.push_back(fmt::format("{} names hosts by rank: measured anew", path_));
        return {};
    }
    SwitchTree tree;
    for (const ProbeHost& host : hosts_) {
        const auto found = cached.hosts.find(host.name);
        if (found == cached.hosts.end()) {
            notes_.push_back(
                fmt::format("{} does not have host {}: measured anew", path_, host.name));
            return {};
        }
        tree.hosts[std::to_string(host.lowest_rank)] = found->second;
    }
    tree.switches = std::move(cached.switches);
    tree.by_rank = true;
    notes_.push_back(fmt::format("probe: read from {}", path_));
    return tree;
}

void ProbeCacheFile::store(SwitchTree tree) {
    if (path_.empty()) return;
    std::unordered_map<std::string, SwitchTree::Host> by_name;
    for (const ProbeHost& host : hosts_)
        by_name[host.name] = tree.hosts.at(std::to_string(host.lowest_rank));
    tree.hosts = std::move(by_name);
    tree.by_rank = false;
    const std::string reason = replace_file(path_, probe_cache_text(tree));
    notes_.push_back(reason.empty()
                         ? fmt::format("probe: kept in {}", path_)
                         : fmt::format("probe: could not be kept in {}: {}", path_, reason));
}

}  // namespace gradcoll
