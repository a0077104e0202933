// topology/sources/cluster/switches_source.hpp - what sources of switches have in common.
#pragma once

#include <functional>
#include <string>

#include "topology/fabric/fabric.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// A source that a function is.
class SwitchesSource : public TreeSource {
  public:
    using Find = std::function<Result<Switches>(const Job& job, SourceNotes& notes)>;
    explicit SwitchesSource(Find find, Needs needs = {Reports::host_names, false, {}});

    Needs needs() const override { return needs_; }
    Status learn(const Job& job, TreeDraft& draft) override;

  private:
    Find find_;
    Needs needs_;
};

/// `where` the fabric is from, for errors; `origin`, for people.
Result<Switches> switches_of(const Result<Fabric>& fabric, const std::string& where,
                             const std::string& origin);

/// A file in any format of a fabric, or a folder of netloc's ib-subnet-*.txt, together one fabric.
/// Errors: io; invalid_argument naming the file.
Result<Switches> switches_from_file(const std::string& path);

}  // namespace gradcoll
