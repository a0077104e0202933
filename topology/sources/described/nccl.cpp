// topology/sources/described/nccl.cpp - hosts that are all described by one NCCL topology file;
// ranks are dealt to its GPUs.
#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/files.hpp"
#include "topology/sources/host/host_subtree.hpp"
#include "topology/sources/host/nccl.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

/// Counts the vertices that ranks are dealt to.
std::size_t count_places(const TreeSpec& spec) {
    std::size_t count = spec.rank >= 0 && spec.kind == VertexKind::gpu ? 1 : 0;
    bool has_leaves = false;
    for (const TreeSpec& child : spec.children) {
        has_leaves |= child.rank >= 0 && child.kind != VertexKind::gpu;
        count += count_places(child);
    }
    return count + (has_leaves ? 1 : 0);
}

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
        constexpr int more_than_gpus = 4096;
        std::vector<int> ranks(more_than_gpus);
        std::iota(ranks.begin(), ranks.end(), 0);
        std::vector<std::string> notes;
        const TreeSpec host = GRADCOLL_VALUE(host_with(ranks, {}, notes));
        return count_places(host);
    }

  private:
    Result<TreeSpec> host_with(std::span<const int> ranks, std::span<const std::string> gpus,
                               std::vector<std::string>& notes) {
        GRADCOLL_TRY(open());
        Result<TreeSpec> host = host_from_nccl(*text_, ranks, notes, gpus);
        if (host.ok()) return host;
        return Status(host.status().code(),
                      fmt::format("file \"{}\": {}", path_, host.status().message()));
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
