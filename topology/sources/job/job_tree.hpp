// topology/sources/job/job_tree.hpp - how sources combine to the tree of a job. Calls no MPI.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/job/discovered_tree.hpp"
#include "topology/sources/job/written.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// The sources that are written for a job. Not thread safe.
class JobSources {
  public:
    /// `written` is resolved.
    explicit JobSources(const WrittenSource& written);

    const std::string& origin() const { return origin_; }
    /// Of all sources together.
    Needs needs() const;
    /// Null: none tells that part.
    TreeSource* source(Part part) const;

    /// `notes` so far, on the job's hosts. Errors: those of the sources, with the origin in front.
    Result<DiscoveredTree> tree_of(const Job& job, std::vector<std::string> notes);

    /// `status` with the origin in front, if something was written.
    Status about(const Status& status) const;

  private:
    struct Member {
        Part part;
        std::unique_ptr<TreeSource> source;
    };
    std::vector<Member> members_;  ///< in the order in which they learn
    std::string origin_;
};

/// What is drafted in parts: the hosts' subtrees below their switches, without any below one
/// vertex. The draft's notes get those of the switches.
Result<Tree> combined_tree(TreeDraft& draft);

/// What the hosts' facts mean for the tree, in sentences for people: only what may have made it
/// other than the machine is.
void note_oddities(std::span<const JobHost> hosts, std::vector<std::string>& notes);

}  // namespace gradcoll
