// topology/sources/hwloc/hwloc.cpp - each rank asks hwloc where it is bound. A host is flat if its
// ranks did not ask.
#include "topology/sources/host/host_subtree.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

class HwlocSource : public TreeSource {
  public:
    Needs needs() const override { return {Reports::host_paths, false, {}}; }
    Status learn(const Job& job, TreeDraft& draft) override {
        for (const JobHost& host : job.hosts) draft.insides.push_back(subtree_as_told(host));
        return {};
    }
};

}  // namespace

SourceRow hwloc_source_row() {
    return {.part = Part::inside,
            .word = "hwloc",
            .forms = "hwloc",
            .make = make_source<HwlocSource>,
            .discovered = true,
            .help = "inside a host: where each rank is bound"};
}

}  // namespace gradcoll
