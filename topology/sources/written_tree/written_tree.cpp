// topology/sources/written_tree/written_tree.cpp - whole trees that somebody wrote: an expression,
// or a JSON file. Their ranks are those of MPI_COMM_WORLD; the tree is pruned to the job.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "topology/sources/job/source_table.hpp"
#include "topology/text.hpp"

namespace gradcoll {

namespace {

constexpr int any_rank_count = -1;

/// A WrittenTree names ranks of MPI_COMM_WORLD.
class WrittenTree : public TreeSource {
  public:
    explicit WrittenTree(std::string value) : value_(std::move(value)) {}

    Status learn(const Job& job, TreeDraft& draft) override {
        Result<Tree> tree = tree_of(job);
        if (tree.ok()) draft.whole = std::move(*tree);
        return tree.status();
    }

  protected:
    const std::string& value() const { return value_; }

  private:
    virtual Result<Tree> read(int rank_count) const = 0;

    Result<Tree> tree_of(const Job& job) const {
        if (job.world_ranks.empty())
            return read(job.rank_count > 0 && !job.may_have_others ? job.rank_count
                                                                   : any_rank_count);
        const auto lost = std::find_if(job.world_ranks.begin(), job.world_ranks.end(),
                                       [](int rank) { return rank < 0; });
        if (lost != job.world_ranks.end())
            return Status(Code::invalid_argument,
                          fmt::format("rank {} of the communicator is not in MPI_COMM_WORLD, whose "
                                      "ranks a written topology names",
                                      lost - job.world_ranks.begin()));
        const Result<Tree> world = read(job.world_size);
        return world.ok() ? world->pruned(job.world_ranks) : world;
    }

    std::string value_;
};

class ExpressionSource : public WrittenTree {
  public:
    using WrittenTree::WrittenTree;
    Status check_text() const override { return read(any_rank_count).status(); }

  private:
    Result<Tree> read(int rank_count) const override {
        return tree_from_expression(value(), rank_count);
    }
};

class JsonSource : public WrittenTree {
  public:
    using WrittenTree::WrittenTree;

  private:
    Result<Tree> read(int rank_count) const override {
        const std::string text = GRADCOLL_VALUE(read_file(value()));
        return tree_from_json(text, rank_count);
    }
};

}  // namespace

SourceRow expression_source_row() {
    return {.part = Part::whole,
            .word = "expression",
            .takes = Takes::no_word,
            .forms = "an expression such as ((0 1) (2 3 4))",
            .make = make_source<ExpressionSource>,
            .example = "((0 1) (2 3 4))",
            .help = "an expression: parentheses are vertices, numbers ranks"};
}

SourceRow json_source_row() {
    return {.part = Part::whole,
            .word = "json",
            .takes = Takes::a_file,
            .forms = "json:FILE",
            .make = make_source<JsonSource>,
            .holds = [](const PathContent& content) { return content.begins_with('{'); },
            .vague = true,
            .found = "holds a whole tree in JSON",
            .expected = "a tree in JSON",
            .help = "a tree with kinds, names, bandwidths and latencies"};
}

}  // namespace gradcoll
