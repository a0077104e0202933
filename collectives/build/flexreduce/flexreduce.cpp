// collectives/build/flexreduce/flexreduce.cpp - makes the steps of one rank for one chunk from tree
// and spec.
#include "collectives/build/flexreduce/flexreduce.hpp"

#include <algorithm>

#include "collectives/build/flexreduce/allgather.hpp"
#include "collectives/build/flexreduce/reduce_scatter.hpp"
#include "collectives/plan/partition.hpp"

namespace gradcoll {
namespace {

OwnershipMap::Ends ends_of(const PlanSpec& spec) {
    return is_in_blocks(spec) ? OwnershipMap::Ends::in_blocks : OwnershipMap::Ends::in_equal_shares;
}

/// ChunkBuilder puts one chunk of one rank together.
class ChunkBuilder {
  public:
    ChunkBuilder(const Tree& tree, const PlanSpec& spec, const FlexreduceFacts& facts, int rank,
                 std::int64_t chunk_elems)
        : spec_(spec),
          map_(tree, chunk_elems, spec.granule_elems, facts.dealt, ends_of(spec)),
          levels_(levels_of(tree, spec, map_, rank)),
          owned_(levels_.empty() ? std::vector<Range>{{0, chunk_elems}}
                                 : kept_parts(levels_.back())),
          steps_(spec, empty_schedule(tree, spec, rank, chunk_elems)),
          transfer_(spec, steps_) {}

    Result<Schedule> build() {
        if (levels_.empty())
            append_alone();
        else if (spec_.collective == Collective::allreduce)
            append_allreduce();
        else if (spec_.collective == Collective::reduce_scatter_block)
            append_reduce_scatter_block();
        else
            append_allgather();
        return std::move(steps_).finish();
    }

  private:
    static Schedule empty_schedule(const Tree& tree, const PlanSpec& spec, int rank,
                                   std::int64_t chunk_elems);

    void append_alone() {
        if (!spec_.in_place) transfer_.copy(Slot::input(), Slot::output(), {0, map_.count_elems()});
    }

    void append_allreduce() {
        append_up(Slot::output(), !spec_.in_place);
        append_down();
    }

    /// In place the output lies in the input, which is read until the sums are there.
    void append_reduce_scatter_block() {
        const Range block = owned_.front();
        append_up(Slot::work(), true, spec_.in_place ? Range{} : block);
        if (spec_.in_place) transfer_.copy(Slot::work(), Slot::output(), block);
    }

    void append_allgather() {
        transfer_.at(levels_.back().number, 0);
        if (!spec_.in_place) transfer_.copy(Slot::input(), Slot::output(), owned_.front());
        append_down();
    }

    void append_up(Slot sums, bool from_input, Range result = {}) {
        ReduceScatter up(transfer_, sums, from_input, result);
        for (const Level& level : levels_) up.append(level);
    }

    void append_down() {
        Allgather down(transfer_);
        down.encode_owned(levels_.back(), owned_);
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) down.append(*level);
    }

    const PlanSpec& spec_;
    OwnershipMap map_;
    std::vector<Level> levels_;
    std::vector<Range> owned_;  ///< after the root's reduce-scatter
    StepList steps_;
    Transfer transfer_;
};

Schedule ChunkBuilder::empty_schedule(const Tree& tree, const PlanSpec& spec, int rank,
                                      std::int64_t chunk_elems) {
    Schedule schedule;
    schedule.count_elems = chunk_elems;
    const bool alone = tree.rank_count() == 1;
    const std::int64_t first = chunk_elems / tree.rank_count() * rank;
    if (spec.collective == Collective::reduce_scatter_block) {
        schedule.output_first_elem = first;
        if (!alone) schedule.work_bytes = static_cast<std::uint64_t>(chunk_elems) * spec.elem_bytes;
    }
    if (spec.collective == Collective::allgather && !spec.in_place)
        schedule.input_first_elem = first;
    return schedule;
}

/// Returns the rounds of the longer of the two ways.
int rounds_at(Exchange exchange, int degree) {
    return std::max(round_count(exchange, degree), rounds_down(exchange, degree));
}

}  // namespace

Result<Schedule> flexreduce_schedule(const Tree& tree, const PlanSpec& spec,
                                     const FlexreduceFacts& facts, int rank,
                                     std::int64_t chunk_elems) {
    return ChunkBuilder(tree, spec, facts, rank, chunk_elems).build();
}

int flexreduce_stage_count(const Tree& tree, const PlanSpec& spec) {
    int rounds = 1;
    for (const int vertex : tree.inner_vertices())
        rounds = std::max(rounds, rounds_at(spec.choices.of(vertex).exchange,
                                            static_cast<int>(tree.children(vertex).size())));
    return stages_per_round * rounds;
}

bool encodings_go_one_hop(const Tree& tree, const PlanSpec& spec) {
    const std::span<const int> branches = tree.children(tree.root());
    if (branches.empty()) return true;
    const auto is_lossy_vertex = [&](int vertex) {
        return !tree.children(vertex).empty() && spec.choices.of(vertex).codec != CodecId::exact;
    };
    const Exchange exchange = spec.choices.of(tree.root()).exchange;
    return rounds_down(exchange, static_cast<int>(branches.size())) <= 1 &&
           std::none_of(branches.begin(), branches.end(), is_lossy_vertex);
}

}  // namespace gradcoll
