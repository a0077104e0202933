// topology/sources/tree_source.hpp - the one interface of all that tells how the tree of a job
// looks. Each source is one way to learn it, or its part of it; job/source_table.hpp lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/switch_tree.hpp"
#include "topology/sources/job_host.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// What each rank tells before sources learn; each includes the one before.
enum class Reports : std::uint8_t {
    none,
    host_names,  ///< which ranks share a host, its name, what SLURM says of it
    host_paths   ///< where a rank is inside its host
};

/// What a source wants to know before it learns.
struct Needs {
    Reports reports = Reports::none;
    bool measurement = false;      ///< of what is between hosts, if there are several
    std::string measurement_file;  ///< that keeps a measurement for the next job; empty: none
};

/// What is known of a job before its tree is.
struct Job {
    std::vector<JobHost> hosts;    ///< by their lowest rank; empty if ranks told nothing
    int rank_count = 0;            ///< 0: as many as the source names
    bool may_have_others = false;  ///< a source that names ranks may name more or fewer of them
    std::vector<int> world_ranks;  ///< of its ranks, below 0 where one is not in MPI_COMM_WORLD;
                                   ///< empty: the job is the whole world
    int world_size = 0;            ///< with world_ranks
    bool can_be_measured = true;   ///< its hosts are there
    bool may_use_kept = false;     ///< what was measured before may tell of its network
    std::optional<SwitchTree> measured = {};  ///< if a source needs it; by rank of the job
};

/// What is between the hosts of a job.
struct Switches {
    std::optional<SwitchTree> tree;  ///< without: all hosts hang below one vertex
    std::string origin;              ///< for people: "SLURM_TOPOLOGY_ADDR"; empty without a tree
    double host_gbytes_per_s = 0;  ///< what links of hosts without a rate are taken for; 0: nothing
    bool by_world_rank = true;     ///< a tree that is by_rank names ranks of MPI_COMM_WORLD, else
                                   ///< those of the job
};

/// What a source assumed, for people.
using SourceNotes = std::vector<std::string>;

/// A tree in the making: each source adds its part.
struct TreeDraft {
    std::optional<Tree> whole;         ///< all of it; else the next two are its parts
    std::vector<HostSubtree> insides;  ///< one for each host of the job, in their order
    Switches switches;
    SourceNotes notes;
};

/// Made from what follows its word in GC_TOPOLOGY; that touches no file. Reads each file once, and
/// only when it is needed. Not thread safe. Calls no MPI.
class TreeSource {
  public:
    virtual ~TreeSource() = default;

    virtual Needs needs() const { return {}; }

    /// As far as the text alone tells: not whether files exist, nor how many ranks there are.
    virtual Status check_text() const { return {}; }

    /// Adds what this source knows of the job, and notes on it. Errors: io; invalid_argument naming
    /// the file or the text, what was found and what is allowed.
    virtual Status learn(const Job& job, TreeDraft& draft) = 0;

    // For jobs that are not there. Errors: as learn().

    /// The hosts that it describes by name.
    virtual Result<std::vector<std::string>> host_names();
    /// How many ranks get a place of their own on that host; 0: not known.
    virtual Result<std::size_t> places_on(const std::string& host_name);
    /// What such a place is: "core", "GPU".
    virtual const char* place_name() const { return "core"; }
};

inline Result<std::vector<std::string>> TreeSource::host_names() {
    return std::vector<std::string>();
}

inline Result<std::size_t> TreeSource::places_on(const std::string&) {
    return std::size_t{0};
}

/// `value`: what follows the word and its colon; empty: nothing does.
using MakeTreeSource = std::unique_ptr<TreeSource>(std::string value);

}  // namespace gradcoll
