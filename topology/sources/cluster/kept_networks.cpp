#include "topology/sources/cluster/kept_networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/mpi/mpi.hpp"
#include "base/options.hpp"
#include "topology/files.hpp"
#include "topology/probe/cache.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_kept = 16;

/// Alive while the process leaves. The latest is the first.
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

/// Empty: there is none.
std::filesystem::path cache_folder() {
    const std::filesystem::path xdg = foreign_variable("XDG_CACHE_HOME");
    if (xdg.is_absolute()) return xdg / "gradcoll";
    const std::filesystem::path home = foreign_variable("HOME");
    return home.is_absolute() ? home / ".cache" / "gradcoll" : std::filesystem::path();
}

/// Of exactly these hosts. Empty: there is no folder for it.
std::string file_of(const HostNames& names) {
    const std::filesystem::path folder = cache_folder();
    if (folder.empty()) return {};
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(library, &length);
    Hash hash;
    hash.text(library);
    for (const std::string& name : names) hash.text(name);
    return folder / fmt::format("network-{:016x}.json", hash.digest());
}

void write_file(const SwitchTree& tree) {
    const std::string path = file_of(names_of(tree));
    if (path.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    (void)replace_file(path, probe_cache_text(tree));  // without a file the next job measures again
}

std::optional<Switches> from_process(const HostNames& names) {
    const std::scoped_lock lock(kept().mutex);
    for (const SwitchTree& tree : kept().trees)
        if (covers(tree, names)) return Switches{tree, "measurements beside calls"};
    return {};
}

std::optional<Switches> from_file(const HostNames& names) {
    const std::string path = file_of(names);
    std::error_code ignored;
    if (path.empty() || !std::filesystem::is_regular_file(path, ignored)) return {};
    const Result<std::string> text = read_file(path);
    if (!text.ok()) return {};
    Result<SwitchTree> tree = switches_from_probe_cache(*text);
    if (!tree.ok() || !covers(*tree, names)) return {};
    return Switches{std::move(*tree), fmt::format("measurements of an earlier job, in {}", path)};
}

}  // namespace

void keep_network(const SwitchTree& tree, bool in_file) {
    if (in_file) write_file(tree);
    const HostNames names = names_of(tree);
    const std::scoped_lock lock(kept().mutex);
    auto& trees = kept().trees;
    std::erase_if(trees, [&](const SwitchTree& other) { return names_of(other) == names; });
    trees.insert(trees.begin(), tree);
    if (trees.size() > most_kept) trees.pop_back();
}

void forget_network(const SwitchTree& tree) {
    const HostNames names = names_of(tree);
    std::error_code ignored;
    if (const std::string path = file_of(names); !path.empty())
        std::filesystem::remove(path, ignored);
    const std::scoped_lock lock(kept().mutex);
    std::erase_if(kept().trees, [&](const SwitchTree& other) { return names_of(other) == names; });
}

std::optional<Switches> kept_network(std::span<const JobHost> hosts) {
    HostNames names;
    for (const JobHost& host : hosts)
        if (host.name.empty() || !names.insert(host.name).second) return {};
    if (auto found = from_process(names)) return found;
    return from_file(names);
}

}  // namespace gradcoll
