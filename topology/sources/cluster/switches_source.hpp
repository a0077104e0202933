// topology/sources/cluster/switches_source.hpp - what sources of switches share.
#pragma once

#include <functional>
#include <string>

#include "fabric/fabric.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// A SwitchesSource calls a function to find the switches.
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

/// Turns a fabric into switches. `where` is the place of the fabric, for errors; `origin` is for
/// people.
Result<Switches> switches_of(const Result<Fabric>& fabric, const std::string& where,
                             const std::string& origin);

/// Reads a file in any format of a fabric, or a folder of netloc's ib-subnet-*.txt, which together
/// are one fabric. Errors: io; invalid_argument naming the file.
Result<Switches> switches_from_file(const std::string& path);

}  // namespace gradcoll
