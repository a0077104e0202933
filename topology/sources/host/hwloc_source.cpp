// topology/sources/host/hwloc_source.cpp - hosts as their ranks found themselves.
#include "topology/sources/host/host_subtree.hpp"
#include "topology/sources/host/sources.hpp"

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

std::unique_ptr<TreeSource> hwloc_source(std::string) {
    return std::make_unique<HwlocSource>();
}

}  // namespace gradcoll
