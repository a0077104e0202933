// topology/sources/job/job_tree.hpp - combines sources to the tree of a job. Calls no MPI.
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

/// JobSources are the sources that are written for a job. Not thread safe.
class JobSources {
  public:
    /// `written` is the result of resolved().
    explicit JobSources(const WrittenSource& written);

    const std::string& origin() const { return origin_; }
    /// Returns the needs of all sources together.
    Needs needs() const;
    /// Returns null if no source describes that part.
    TreeSource* source(Part part) const;

    /// Makes the tree; `notes` so far are about the job's hosts. Errors: those of the sources, with
    /// the origin in front.
    Result<DiscoveredTree> tree_of(const Job& job, std::vector<std::string> notes);

    /// Returns `status` with the origin in front, if something was written.
    Status about(const Status& status) const;

  private:
    struct Member {
        Part part;
        std::unique_ptr<TreeSource> source;
    };
    std::vector<Member> members_;  ///< in the order in which they learn
    std::string origin_;
};

/// Makes the tree of a draft in parts: the hosts' subtrees below their switches, or below one
/// vertex if there are no switches. The notes of the switches are added to the draft's.
Result<Tree> combined_tree(TreeDraft& draft);

/// Adds notes for people on what the hosts' facts mean for the tree: only on what may make it
/// differ from the machine.
void note_oddities(std::span<const JobHost> hosts, std::vector<std::string>& notes);

}  // namespace gradcoll
