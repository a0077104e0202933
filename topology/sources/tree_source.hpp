// topology/sources/tree_source.hpp - the interface of all sources of a job's tree. Each source is
// one way to learn the tree, or a part of it; job/source_table.hpp lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "fabric/switch_tree.hpp"
#include "topology/sources/job_host.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Reports says what each rank reports before sources learn; each value includes the one before.
enum class Reports : std::uint8_t {
    none,
    host_names,  ///< which ranks share a host, its name, what SLURM says of it
    host_paths   ///< where a rank is inside its host
};

/// Needs says what a source must know before it learns.
struct Needs {
    Reports reports = Reports::none;
    bool measurement = false;  ///< whether to measure what is between hosts, if there are several
    std::string measurement_file;  ///< file that keeps a measurement for the next job; empty: none
};

/// A Job is what is known of a job before its tree is.
struct Job {
    std::vector<JobHost> hosts;  ///< ordered by their lowest rank; empty if ranks reported nothing
    int rank_count = 0;          ///< 0: as many as the source names
    bool may_have_others = false;  ///< a source that names ranks may name more or fewer of them
    std::vector<int> world_ranks;  ///< by rank of the job; negative for one that is not in
                                   ///< MPI_COMM_WORLD; empty: the job is the whole world
    int world_size = 0;            ///< set together with world_ranks
    bool can_be_measured = true;   ///< its hosts exist
    bool may_use_kept = false;     ///< earlier measurements may describe its network
    std::optional<SwitchTree> measured = {};  ///< set if a source needs it; by rank of the job
};

/// Switches is what is between the hosts of a job.
struct Switches {
    std::optional<SwitchTree> tree;  ///< without: all hosts hang below one vertex
    std::string origin;              ///< for people: "SLURM_TOPOLOGY_ADDR"; empty without a tree
    double host_gbytes_per_s = 0;    ///< assumed rate of links of hosts without one; 0: none is
                                     ///< assumed
    bool by_world_rank = true;       ///< a tree that is by_rank names ranks of MPI_COMM_WORLD, else
                                     ///< those of the job
};

/// SourceNotes say what a source assumed, for people.
using SourceNotes = std::vector<std::string>;

/// A TreeDraft is a tree in the making: each source adds its part.
struct TreeDraft {
    std::optional<Tree> whole;         ///< the whole tree; without it the next two are its parts
    std::vector<HostSubtree> insides;  ///< one for each host of the job, in their order
    Switches switches;
    SourceNotes notes;
};

/// A TreeSource is made from what follows its word in GC_TOPOLOGY, which touches no file. It reads
/// each file once, and only when it is needed. Not thread safe. Calls no MPI.
class TreeSource {
  public:
    virtual ~TreeSource() = default;

    virtual Needs needs() const { return {}; }

    /// Checks what the text alone shows: not whether files exist, nor how many ranks there are.
    virtual Status check_text() const { return {}; }

    /// Adds to `draft` what this source knows of the job, and notes on it. Errors: io;
    /// invalid_argument naming the file or the text, what was found and what is allowed.
    virtual Status learn(const Job& job, TreeDraft& draft) = 0;

    // The calls below are for jobs that do not exist. Errors: as learn().

    /// Returns the hosts that it describes by name.
    virtual Result<std::vector<std::string>> host_names();
    /// Returns how many ranks get a place of their own on that host; 0: not known.
    virtual Result<std::size_t> places_on(const std::string& host_name);
    /// Returns what such a place is: "core", "GPU".
    virtual const char* place_name() const { return "core"; }
};

inline Result<std::vector<std::string>> TreeSource::host_names() {
    return std::vector<std::string>();
}

inline Result<std::size_t> TreeSource::places_on(const std::string&) {
    return std::size_t{0};
}

/// Makes a source; `value` is what follows the word and its colon, or empty.
using MakeTreeSource = std::unique_ptr<TreeSource>(std::string value);

}  // namespace gradcoll
