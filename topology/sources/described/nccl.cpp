// topology/sources/described/nccl.cpp - hosts that are all described by one NCCL topology file;
// ranks are dealt to its GPUs.
#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "base/files.hpp"
#include "topology/sources/host/host_subtree.hpp"
#include "topology/sources/host/nccl.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

class NcclSource : public TreeSource {
  public:
    explicit NcclSource(std::string path) : path_(std::move(path)) {}

    Needs needs() const override { return {Reports::host_names, false, {}}; }
    const char* place_name() const override { return "GPU"; }

    Status learn(const Job& job, TreeDraft& draft) override {
        for (const JobHost& host : job.hosts) {
            TreeSpec spec = GRADCOLL_VALUE(host_with(ranks_of(host), gpus_of(host), draft.notes));
            spec.name = host.name;
            draft.insides.push_back({host.ranks.front().rank, std::move(spec)});
        }
        return {};
    }

    Result<std::size_t> places_on(const std::string&) override {
        GRADCOLL_TRY(open());
        const Result<std::size_t> count = count_nccl_places(*text_);
        return count.ok() ? count : in_file(count.status());
    }

  private:
    Result<TreeSpec> host_with(std::span<const int> ranks, std::span<const std::string> gpus,
                               std::vector<std::string>& notes) {
        GRADCOLL_TRY(open());
        Result<TreeSpec> host = host_from_nccl(*text_, ranks, notes, gpus);
        return host.ok() ? host : in_file(host.status());
    }
    Status in_file(const Status& status) const {
        return {status.code(), fmt::format("file \"{}\": {}", path_, status.message())};
    }
    Status open() {
        if (text_) return {};
        text_ = GRADCOLL_VALUE(read_file(path_));
        return {};
    }

    std::string path_;
    std::optional<std::string> text_;
};

}  // namespace

SourceRow nccl_source_row() {
    return {.part = Part::inside,
            .word = "nccl",
            .takes = Takes::a_file,
            .forms = "nccl:FILE",
            .make = make_source<NcclSource>,
            .holds = [](const PathContent& content) { return content.xml_element() == "system"; },
            .found = "holds NCCL XML",
            .expected = "NCCL XML",
            .help = "inside: as an NCCL topology file describes"};
}

}  // namespace gradcoll
