// topology/sources/job/whole_sources.cpp - see whole_sources.hpp.
#include "topology/sources/job/whole_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "topology/sources/cluster/sources.hpp"
#include "topology/text.hpp"

namespace gradcoll {

namespace {

constexpr int any_rank_count = -1;

class FlatSource : public TreeSource {
  public:
    Status learn(const Job& job, TreeDraft& draft) override {
        draft.whole = Tree::flat(std::max(job.rank_count, 1));
        return {};
    }
};

/// Names ranks of MPI_COMM_WORLD.
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

std::unique_ptr<TreeSource> flat_source(std::string) {
    return std::make_unique<FlatSource>();
}

std::unique_ptr<TreeSource> expression_source(std::string text) {
    return std::make_unique<ExpressionSource>(std::move(text));
}

std::unique_ptr<TreeSource> json_source(std::string path) {
    return std::make_unique<JsonSource>(std::move(path));
}

bool holds_json_tree(const PathContent& content) {
    return content.begins_with('{') && !holds_probe_cache(content);
}

}  // namespace gradcoll
