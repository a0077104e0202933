// collectives/build/flexreduce/flexreduce.cpp - makes the steps of one rank for one chunk from tree
// and spec.
#include "collectives/build/flexreduce/flexreduce.hpp"

#include <algorithm>
#include <map>

#include "collectives/build/flexreduce/allgather.hpp"
#include "collectives/build/flexreduce/reduce_scatter.hpp"
#include "collectives/plan/partition.hpp"

namespace gradcoll {
namespace {

// The tree's own ownership and the MPI standard's blocks (rank r: elements [r * block, (r + 1) *
// block)) differ: one direct exchange, after the reduce-scatter or before the allgather, leads from
// one to the other.

/// A BlockLayout says who has what in the two layouts.
struct BlockLayout {
    Range block;               ///< this rank's block
    std::vector<Range> owned;  ///< what this rank owns after the root's reduce-scatter
    std::vector<Message>
        to_owners;  ///< pieces of our block, by the rank that owns them (never this one)
    std::vector<Message>
        to_blocks;  ///< pieces that we own, by the rank of their block (never this one)
};

std::vector<Message> without(int rank, const std::map<int, std::vector<Range>>& by_rank) {
    std::vector<Message> messages;
    for (const auto& [peer, ranges] : by_rank)
        if (peer != rank) messages.push_back({peer, ranges});
    return messages;
}

std::vector<Range> own_pieces(const BlockLayout& layout) {
    std::vector<Range> pieces;
    for (const Range& range : layout.owned) append_joined(pieces, intersect(range, layout.block));
    return pieces;
}

BlockLayout block_layout(const Tree& tree, const OwnershipMap& map, int rank,
                         const std::vector<Range>& owned) {
    const std::int64_t block = map.count_elems() / tree.rank_count();
    BlockLayout layout{{rank * block, (rank + 1) * block}, owned, {}, {}};
    std::map<int, std::vector<Range>> to_owners;
    for (const OwnedRange& piece : map.owners(tree.root(), layout.block))
        append_joined(to_owners[piece.rank], piece.range);
    std::map<int, std::vector<Range>> to_blocks;
    for (const Range& range : owned)
        for (std::int64_t at = range.begin; at < range.end;) {
            const std::int64_t end = std::min(range.end, (at / block + 1) * block);
            append_joined(to_blocks[static_cast<int>(at / block)], {at, end});
            at = end;
        }
    layout.to_owners = without(rank, to_owners);
    layout.to_blocks = without(rank, to_blocks);
    return layout;
}

/// Sends sums from the work vector to the blocks' ranks, each into its output.
void append_to_blocks(Transfer& transfer, const BlockLayout& layout) {
    for (const Message& message : layout.to_owners) transfer.recv_values(message, Slot::output());
    for (const Message& message : layout.to_blocks) transfer.send_values(message, Slot::work());
    for (const Range& piece : own_pieces(layout))
        transfer.copy(Slot::work(), Slot::output(), piece);
}

/// Sends values from `source` (input, or output if in place) of the blocks' ranks to the owners'
/// outputs.
void append_from_blocks(Transfer& transfer, const BlockLayout& layout, Slot source) {
    for (const Message& message : layout.to_owners) transfer.send_values(message, source);
    for (const Message& message : layout.to_blocks) transfer.recv_values(message, Slot::output());
    if (source == Slot::output()) return;
    for (const Range& piece : own_pieces(layout)) transfer.copy(source, Slot::output(), piece);
}

/// ChunkBuilder puts one chunk of one rank together.
class ChunkBuilder {
  public:
    ChunkBuilder(const Tree& tree, const PlanSpec& spec, const FlexreduceFacts& facts, int rank,
                 std::int64_t chunk_elems)
        : tree_(tree),
          spec_(spec),
          stage_count_(facts.stage_count),
          rank_(rank),
          map_(tree, chunk_elems, spec.granule_elems, facts.dealt),
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
    return stages_per_round * rounds + (spec.collective == Collective::allreduce ? 0 : 1);
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
