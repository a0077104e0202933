// topology/sources/job/job_tree.hpp - the hosts of a job as one place knows them, and the tree that
// follows. Calls no MPI.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/switch_tree.hpp"
#include "topology/sources/host/host.hpp"
#include "topology/sources/job/discover.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {

struct JobHost {
    struct Rank {
        int rank = 0;        ///< in the communicator: a leaf of the tree
        int world_rank = 0;  ///< in MPI_COMM_WORLD; -1: it is not there
        HostPath path;       ///< down to its binding or to its GPU; looked at if hwloc says how the
                             ///< inside looks
        std::string gpu = {};  ///< PCI address of the one that it uses; empty: none, or not known
    };
    std::string name;
    std::vector<Rank> ranks;    ///< ascending, at least one
    std::string slurm_address;  ///< SLURM_TOPOLOGY_ADDR of its lowest rank; empty: none
    std::string slurm_pattern;
    bool addresses_differ = false;  ///< another rank of it has another address
    HostFacts facts;                ///< what its lowest rank sees
    std::string unbound_over;       ///< see HostFacts: of the first unbound rank
    std::size_t unbound_count = 0;  ///< ranks that are bound to no part of it
};

std::vector<int> ranks_of(const JobHost& host);
std::vector<std::string> gpus_of(const JobHost& host);  ///< of its ranks, in their order

/// What the hosts' facts mean for the tree, in sentences for people: only what may have made it
/// other than the machine is.
void note_oddities(std::span<const JobHost> hosts, std::vector<std::string>& notes);

/// "n[1-3]", cut where it gets long: hosts in a sentence.
std::string hosts_in_words(std::span<const std::string> names);

/// `source` is resolved, of form machine; `hosts` are in the order of their lowest rank, at least
/// one; `measured` is the probe's answer if `source` asks for one, its hosts named by their lowest
/// rank in the communicator. Errors: what the files of `source` say, with its origin in front.
Result<DiscoveredTree> tree_of_job(const WrittenSource& source, std::span<const JobHost> hosts,
                                   std::optional<SwitchTree> measured,
                                   std::vector<std::string> notes);

/// The tree that a flat, expression or json source writes down, for itself. `rank_count` 0: as many
/// as it names, one if it is flat. Errors: as written_tree(), with the origin in front.
Result<DiscoveredTree> whole_tree(const WrittenSource& source, int rank_count);

/// `status` with the origin of `source` in front, if something was written.
Status about(const WrittenSource& source, const Status& status);

/// The hosts' subtrees below their switches (without any: below one vertex). `notes` get those of
/// the switches.
Result<Tree> combined_tree(std::vector<HostSubtree> hosts,
                           const std::optional<SwitchTree>& switches,
                           std::vector<std::string>& notes);

}  // namespace gradcoll
