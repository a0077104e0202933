// topology/sources/flat/flat.cpp - puts all ranks below one vertex.
#include <algorithm>

#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

class FlatSource : public TreeSource {
  public:
    Status learn(const Job& job, TreeDraft& draft) override {
        draft.whole = Tree::flat(std::max(job.rank_count, 1));
        return {};
    }
};

}  // namespace

SourceRow flat_source_row() {
    return {.part = Part::whole,
            .word = "flat",
            .forms = "flat",
            .make = make_source<FlatSource>,
            .help = "all ranks below one vertex"};
}

}  // namespace gradcoll
