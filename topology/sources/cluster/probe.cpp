// topology/sources/cluster/probe.cpp - the collective part: who measures, who waits, and the same
// answer for all; and the cache file, which is read with distrust and written at once or not at
// all.
#include "topology/sources/cluster/probe.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "topology/probe/cache.hpp"
#include "topology/probe/measured_switches.hpp"
#include "topology/sources/cluster/exchange.hpp"
#include "topology/sources/cluster/probe_ruler.hpp"

namespace gradcoll {

namespace {

constexpr std::uint64_t limit_ns = 60'000'000'000;

bool all_different(std::span<const ProbeHost> hosts) {
    std::unordered_set<std::string> names;
    for (const ProbeHost& host : hosts)
        if (host.name.empty() || !names.insert(host.name).second) return false;
    return true;
}

/// ProbeCacheFile keeps the measurements of one run for the next. Any fault of the file becomes a
/// note.
class ProbeCacheFile {
  public:
    /// An empty path keeps nothing. Names that two hosts share cannot be kept, either.
    ProbeCacheFile(std::string path, std::span<const ProbeHost> hosts,
                   std::vector<std::string>& notes)
        : path_(std::move(path)), hosts_(hosts), notes_(notes) {
        if (path_.empty() || all_different(hosts_)) return;
        notes_.push_back(fmt::format(
            "probe cache {}: not used, since hosts of this job have no names of their own", path_));
        path_.clear();
    }

    /// Returns the tree of these hosts, by_rank, if the file covers all of them.
    std::optional<SwitchTree> load() {
        std::error_code ignored;
        if (path_.empty() || !std::filesystem::exists(path_, ignored)) return {};
        const Result<std::string> text = read_file(path_);
        if (!text.ok()) return nothing(text.status().message());
        if (!is_probe_cache(*text))
            return nothing(
                fmt::format("{} holds no measurements of the probe: measured anew, and the file is "
                            "left as it is",
                            std::exchange(path_, {})));
        Result<SwitchTree> cached = switches_from_probe_cache(*text);
        if (!cached.ok())
            return nothing(fmt::format("{}: {}: measured anew", path_, cached.status().message()));
        return by_rank(std::move(*cached));
    }

    /// Writes `tree`, which is by_rank. The file is replaced at once or not at all; a file that is
    /// not ours stays.
    void store(SwitchTree tree) {
        if (path_.empty()) return;
        std::unordered_map<std::string, SwitchTree::Host> by_name;
        for (const ProbeHost& host : hosts_)
            by_name[host.name] = tree.hosts.at(std::to_string(host.lowest_rank));
        tree.hosts = std::move(by_name);
        tree.by_rank = false;
        const Status stored = write_file(path_, probe_cache_text(tree));
        notes_.push_back(stored.ok() ? fmt::format("probe: kept in {}", path_)
                                     : fmt::format("probe: not kept: {}", stored.message()));
    }

  private:
    std::nullopt_t nothing(std::string note) const {
        notes_.push_back(std::move(note));
        return std::nullopt;
    }

    std::optional<SwitchTree> by_rank(SwitchTree cached) const {
        if (cached.by_rank)
            return nothing(fmt::format("{} names hosts by rank: measured anew", path_));
        SwitchTree tree;
        for (const ProbeHost& host : hosts_) {
            const auto found = cached.hosts.find(host.name);
            if (found == cached.hosts.end())
                return nothing(fmt::format("{} does not have host {}: measured anew", path_,
                                           printable(host.name)));
            tree.hosts[std::to_string(host.lowest_rank)] = found->second;
        }
        tree.switches = std::move(cached.switches);
        tree.by_rank = true;
        notes_.push_back(fmt::format("probe: read from {}", path_));
        return tree;
    }

    std::string path_;
    std::span<const ProbeHost> hosts_;
    std::vector<std::string>& notes_;
};

Status check_hosts(std::span<const ProbeHost> hosts, int size, const std::string& job) {
    std::unordered_set<int> ranks;
    for (const ProbeHost& host : hosts)
        if (host.lowest_rank < 0 || host.lowest_rank >= size ||
            !ranks.insert(host.lowest_rank).second)
            return {
                Code::invalid_argument,
                fmt::format("{}: rank {} cannot measure for host {}: ranks are from 0 to {} and "
                            "measure for one host each",
                            job, host.lowest_rank, printable(host.name), size - 1)};
    if (ranks.count(0) == 0)
        return {Code::invalid_argument, fmt::format("{}: no host has rank 0", job)};
    return {};
}

class Probe {
  public:
    Probe(MPI_Comm comm, std::span<const ProbeHost> hosts, const ProbeOptions& options)
        : comm_(comm), hosts_(hosts), options_(options) {}

    Result<SwitchTree> run(int rank) {
        Result<std::string> text = std::string();
        if (rank == 0)
            text = text_of(on_rank_0());
        else if (measures(rank))
            GRADCOLL_TRY(obey_probe(comm_, options_.effort));
        // Other ranks must not take the core from those that measure.
        MPI_Request all_done = MPI_REQUEST_NULL;
        GRADCOLL_TRY(from_mpi(PMPI_Ibarrier(comm_, &all_done), "MPI_Ibarrier"));
        GRADCOLL_TRY(wait_gently(all_done));
        return switches_from_probe_cache(GRADCOLL_VALUE(share_result(comm_, text)));
    }

  private:
    bool measures(int rank) const {
        for (const ProbeHost& host : hosts_)
            if (host.lowest_rank == rank) return true;
        return false;
    }

    Result<SwitchTree> on_rank_0() {
        std::vector<int> ranks;
        for (const ProbeHost& host : hosts_) ranks.push_back(host.lowest_rank);
        MpiRuler ruler(comm_, std::move(ranks), options_.effort, limit_ns);
        std::vector<std::string> notes;
        ProbeCacheFile cache(options_.cache_file, hosts_, notes);
        Result<SwitchTree> tree = Status(Code::internal, "nothing is measured yet");
        if (std::optional<SwitchTree> cached = cache.load())
            tree = std::move(*cached);
        else
            tree = measured(ruler, cache);
        GRADCOLL_TRY(ruler.dismiss());
        if (tree.ok()) tree->notes.insert(tree->notes.end(), notes.begin(), notes.end());
        return tree;
    }

    Result<SwitchTree> measured(MpiRuler& ruler, ProbeCacheFile& cache) const {
        std::vector<std::string> names;
        for (const ProbeHost& host : hosts_) names.push_back(std::to_string(host.lowest_rank));
        const std::uint64_t start_ns = now_ns();
        auto [tree, disturbed] = GRADCOLL_VALUE(measured_switches(ruler, names, options_.effort));
        tree.by_rank = true;
        if (hosts_.size() < 2) return std::move(tree);
        tree.notes.push_back(fmt::format("probe: measuring took {:.1f} s",
                                         static_cast<double>(now_ns() - start_ns) / 1e9));
        if (disturbed)
            tree.notes.emplace_back(
                "probe: hosts were busy with something else while they measured: the tree may be "
                "wrong");
        // An incomplete measurement should be repeated next time.
        if (!ruler.spent()) cache.store(tree);
        return std::move(tree);
    }

    Result<std::string> text_of(const Result<SwitchTree>& tree) const {
        if (tree.ok()) return probe_cache_text(*tree);
        return Status(tree.status().code(),
                      fmt::format("{}: {}", options_.job, tree.status().message()));
    }

    MPI_Comm comm_;
    std::span<const ProbeHost> hosts_;
    const ProbeOptions& options_;
};

}  // namespace

Result<SwitchTree> probe_switches(MPI_Comm comm, std::span<const ProbeHost> hosts,
                                  const ProbeOptions& options) {
    int rank = 0;
    int size = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_size(comm, &size), "MPI_Comm_size"));
    GRADCOLL_TRY(check_hosts(hosts, size, options.job));
    // A private communicator keeps users' messages apart from ours, and returns errors.
    OwnedComm own;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_dup(comm, &own.handle), "MPI_Comm_dup"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_set_errhandler(own.handle, MPI_ERRORS_RETURN),
                          "MPI_Comm_set_errhandler"));
    return Probe(own.handle, hosts, options).run(rank);
}

}  // namespace gradcoll
