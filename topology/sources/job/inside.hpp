// topology/sources/job/inside.hpp - the subtree of each host of a job, from what says how its
// inside looks. Calls no MPI.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/switch_tree.hpp"
#include "topology/sources/host/described_host.hpp"
#include "topology/sources/host/hosts_file.hpp"
#include "topology/sources/job/job_tree.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {

/// Reads each file once, and only when a host needs it. Not thread safe.
class Insides {
  public:
    /// `source` is resolved. Errors: those of the hosts file or folder.
    static Result<Insides> of(const InsideSource& source);

    /// The hosts that a hosts file or folder names; empty with other sources.
    std::vector<std::string> host_names() const;

    /// How many ranks get a place of their own on that host: cores, or GPUs (gpus:PATH, NCCL's
    /// files). 0:
    /// not known. Errors: those of the host's description, naming the host.
    Result<std::size_t> places_on(const std::string& host_name);

    /// Ranks of a host that nothing describes are right below it, with a note; if that is so for
    /// all hosts, that is an error (invalid_argument). Other errors: as places_on().
    Result<std::vector<HostSubtree>> subtrees(std::span<const JobHost> hosts,
                                              std::vector<std::string>& notes);

  private:
    explicit Insides(const InsideSource& source) : source_(source) {}

    /// What ranks are dealt to on hosts of one description: cores or GPUs.
    struct Places {
        std::vector<HostPath> paths;
        std::vector<std::string> notes;
    };

    /// Of a description; null: there is none.
    Result<const Places*> places_of(const std::string& host_name);
    Result<Places> read_places(const std::string& description) const;
    Result<TreeSpec> from_nccl(std::span<const int> ranks, std::span<const std::string> gpus,
                               std::vector<std::string>& notes) const;
    Result<std::size_t> nccl_places() const;
    Result<TreeSpec> subtree(const JobHost& host, std::vector<std::string>& undescribed,
                             std::vector<std::string>& notes);

    InsideSource source_;
    HostsFile hosts_;
    std::map<std::string, Places> places_of_description_;
    std::string nccl_;  ///< the text of the NCCL file
};

}  // namespace gradcoll
