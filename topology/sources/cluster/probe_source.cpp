// topology/sources/cluster/probe_source.cpp - switches as they were measured for this job, or kept.
#include <utility>

#include "topology/sources/cluster/file_sources.hpp"
#include "topology/sources/cluster/sources.hpp"

namespace gradcoll {

namespace {

class ProbeSource : public TreeSource {
  public:
    explicit ProbeSource(std::string cache_file) : cache_file_(std::move(cache_file)) {}

    Needs needs() const override { return {Reports::host_names, true, cache_file_}; }

    Status learn(const Job& job, TreeDraft& draft) override {
        if (!job.can_be_measured) return learn_kept(draft);
        if (job.measured) draft.switches = {job.measured, "measurements", false};
        return {};
    }

  private:
    Status learn_kept(TreeDraft& draft) const {
        if (cache_file_.empty())
            return {Code::invalid_argument,
                    "a cluster that is not there cannot be measured; expected file:FILE, "
                    "probe:CACHE-FILE, slurm or none between hosts"};
        Result<Switches> kept = switches_from_cache(cache_file_);
        if (kept.ok()) draft.switches = std::move(*kept);
        return kept.status();
    }

    std::string cache_file_;
};

}  // namespace

std::unique_ptr<TreeSource> probe_source(std::string cache_file) {
    return std::make_unique<ProbeSource>(std::move(cache_file));
}

}  // namespace gradcoll
