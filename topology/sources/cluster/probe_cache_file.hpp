// topology/sources/cluster/probe_cache_file.hpp - the file that one run's measurements are kept in
// for the next. Calls no MPI.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/fabric/switch_tree.hpp"

namespace gradcoll {

/// One host as all ranks know it.
struct ProbeHost {
    int lowest_rank = 0;  ///< in the communicator: this rank measures for the host
    std::string name;
};

/// Where one run's measurements meet the next. Whatever is wrong with the file becomes a note.
class ProbeCacheFile {
  public:
    /// An empty path: nothing is kept. Names that two hosts share cannot be kept, either.
    ProbeCacheFile(std::string path, std::span<const ProbeHost> hosts,
                   std::vector<std::string>& notes);

    /// The tree of these hosts, by_rank, if the file covers all of them.
    std::optional<SwitchTree> load();
    /// `tree` is by_rank. The file is replaced at once or not at all; one that is not ours stays.
    void store(SwitchTree tree);

  private:
    std::optional<SwitchTree> by_rank(SwitchTree cached) const;

    std::string path_;
    std::span<const ProbeHost> hosts_;
    std::vector<std::string>& notes_;
};

}  // namespace gradcoll
