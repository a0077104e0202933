#include "topology/sources/cluster/kept_networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "topology/probe/cache.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_kept = 16;

/// Kept is never destroyed while the process exits. The latest tree is the first.
struct Kept {
    std::mutex mutex;
    std::vector<SwitchTree> trees;
};
Kept& kept() {
    static Kept& all = *new Kept;
    return all;
}

using HostNames = std::set<std::string>;

HostNames names_of(const SwitchTree& tree) {
    HostNames names;
    for (const auto& [name, host] : tree.hosts) names.insert(name);
    return names;
}

bool covers(const SwitchTree& tree, const HostNames& names) {
    return !tree.by_rank && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return tree.hosts.count(name) > 0;
    });
}

/// Returns the file for exactly these hosts.
KeptFile file_of(const HostNames& names) {
    Hash hash;
    for (const std::string& name : names) hash.text(name);
    return {"network", hash.digest()};
}

std::optional<Switches> from_process(const HostNames& names) {
    const std::scoped_lock lock(kept().mutex);
    for (const SwitchTree& tree : kept().trees)
        if (covers(tree, names)) return Switches{tree, "measurements beside calls"};
    return {};
}

std::optional<Switches> from_file(const HostNames& names) {
    const KeptFile file = file_of(names);
    const std::optional<std::string> text = file.text();
    if (!text) return {};
    Result<SwitchTree> tree = switches_from_probe_cache(*text);
    if (!tree.ok() || !covers(*tree, names)) return {};
    return Switches{std::move(*tree),
                    fmt::format("measurements of an earlier job, in {}", file.path())};
}

}  // namespace

void keep_network(const SwitchTree& tree, bool in_file) {
    const HostNames names = names_of(tree);
    if (in_file) file_of(names).write(probe_cache_text(tree));
    const std::scoped_lock lock(kept().mutex);
    auto& trees = kept().trees;
    std::erase_if(trees, [&](const SwitchTree& other) { return names_of(other) == names; });
    trees.insert(trees.begin(), tree);
    if (trees.size() > most_kept) trees.pop_back();
}

void forget_network(const SwitchTree& tree) {
    const HostNames names = names_of(tree);
    file_of(names).remove();
    const std::scoped_lock lock(kept().mutex);
    std::erase_if(kept().trees, [&](const SwitchTree& other) { return names_of(other) == names; });
}

std::optional<Switches> kept_network(std::span<const JobHost> hosts, bool in_file) {
    HostNames names;
    for (const JobHost& host : hosts)
        if (host.name.empty() || !names.insert(host.name).second) return {};
    if (auto found = from_process(names)) return found;
    return in_file ? from_file(names) : std::nullopt;
}

}  // namespace gradcoll
