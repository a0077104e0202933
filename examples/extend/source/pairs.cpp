// examples/extend/source/pairs.cpp - groups the ranks of each host two by two, wherever they are
// bound.
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

TreeSpec in_pairs(const JobHost& host) {
    TreeSpec spec;
    spec.kind = VertexKind::host;
    spec.name = host.name;
    for (const JobHost::Rank& rank : host.ranks) {
        if (spec.children.empty() || spec.children.back().children.size() == 2)
            spec.children.emplace_back();
        TreeSpec& leaf = spec.children.back().children.emplace_back();
        leaf.kind = VertexKind::rank;
        leaf.rank = rank.rank;
    }
    return spec;
}

class Pairs : public TreeSource {
  public:
    Needs needs() const override { return {Reports::host_names, false, {}}; }
    Status learn(const Job& job, TreeDraft& draft) override {
        for (const JobHost& host : job.hosts)
            draft.insides.push_back({host.ranks.front().rank, in_pairs(host)});
        return {};
    }
};

}  // namespace

SourceRow pairs_source_row() {
    return {.part = Part::inside,
            .word = "pairs",
            .forms = "pairs",
            .make = make_source<Pairs>,
            .help = "inside a host: ranks two by two"};
}

}  // namespace gradcoll
