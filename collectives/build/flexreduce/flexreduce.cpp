// collectives/build/flexreduce/flexreduce.cpp - from tree and spec to the steps of one rank for one
// chunk.
#include "collectives/build/flexreduce/flexreduce.hpp"

#include <algorithm>

#include "collectives/build/flexreduce/allgather.hpp"
#include "collectives/build/flexreduce/blocks.hpp"
#include "collectives/build/flexreduce/reduce_scatter.hpp"

namespace gradcoll {
namespace {

/// One chunk of one rank while it is put together.
class Builder {
  public:
    Builder(const Tree& tree, const PlanSpec& spec, std::uint32_t stage_count, int rank,
            std::int64_t chunk_elems)
        : tree_(tree),
          spec_(spec),
          stage_count_(stage_count),
          rank_(rank),
          map_(tree, chunk_elems, spec.granule_elems),
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

    void append_reduce_scatter_block() {
        append_up(Slot::work(), true);
        at_blocks();
        append_to_blocks(transfer_, block_layout(tree_, map_, rank_, owned_));
    }

    void append_allgather() {
        at_blocks();
        append_from_blocks(transfer_, block_layout(tree_, map_, rank_, owned_),
                           spec_.in_place ? Slot::output() : Slot::input());
        append_down();
    }

    void append_up(Slot sums, bool from_input) {
        ReduceScatter up(transfer_, sums, from_input);
        for (const Level& level : levels_) up.append(level);
    }

    void append_down() {
        Allgather down(transfer_);
        down.encode_owned(levels_.back(), owned_);
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) down.append(*level);
    }

    void at_blocks() { transfer_.at(levels_.back().number, static_cast<int>(stage_count_) - 1); }

    const Tree& tree_;
    const PlanSpec& spec_;
    std::uint32_t stage_count_;
    int rank_;
    OwnershipMap map_;
    std::vector<Level> levels_;
    std::vector<Range> owned_;  ///< after the root's reduce-scatter
    StepList steps_;
    Transfer transfer_;
};

Schedule Builder::empty_schedule(const Tree& tree, const PlanSpec& spec, int rank,
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

}  // namespace

Result<Schedule> flexreduce_schedule(const Tree& tree, const PlanSpec& spec,
                                     std::uint32_t stage_count, int rank,
                                     std::int64_t chunk_elems) {
    return Builder(tree, spec, stage_count, rank, chunk_elems).build();
}

int flexreduce_stage_count(const Tree& tree, const PlanSpec& spec) {
    int rounds = 1;
    for (const int vertex : tree.inner_vertices())
        rounds = std::max(rounds, round_count(spec.choices.of(vertex).exchange,
                                              static_cast<int>(tree.children(vertex).size())));
    return stages_per_round * rounds + (spec.collective == Collective::allreduce ? 0 : 1);
}

}  // namespace gradcoll
