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
#include "topology/sources/job/discover.hpp"
#include "topology/sources/job/written.hpp"
#include "topology/sources/job_host.hpp"

namespace gradcoll {

std::vector<int> ranks_of(const JobHost& host);
std::vector<std::string> gpus_of(const JobHost& host);  ///< of its ranks, in their order

/// What the hosts' facts mean for the tree, in sentences for people: only what may have made it
/// other than the machine is.
void note_oddities(std::span<const JobHost> hosts, std::vector<std::string>& notes);

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
