// collectives/plan/partition.cpp - FlexReduce ownership, evaluated only where it is asked for.
#include "collectives/plan/partition.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/hash.hpp"

namespace gradcoll {

namespace {

/// A Run is what one rank of a subtree owns in one piece, at full length: no neighbour belongs to
/// the same rank.
struct Run {
    Range range;
    int leaf = 0;  ///< position of the owner among the subtree's leaves
    bool odd =
        false;  ///< alternates from run to run (nearly always): tells neighbouring intervals apart
};

/// A Cell is an interval with what is needed to continue it beyond its cuts.
struct Cell {
    Range range;
    std::vector<int> owners;   ///< by branch: position of the owner among the subtree's leaves
    std::vector<Range> parts;  ///< as in Interval
    std::vector<int> order;    ///< branch at each position
    std::vector<char> before;  ///< by branch: whether its owner is the same left of the interval's
                               ///< begin
    std::vector<char> after;   ///< by branch: whether its owner is the same right of the interval's
                               ///< end
    bool odd = false;
};

/// Returns the branch beside a cut: of those whose owner does not change there the one with the
/// shortest run.
int joining_branch(const std::vector<Run>& runs, const std::vector<char>& spans) {
    int best = -1;
    for (int b = 0; b < static_cast<int>(runs.size()); ++b)
        if (spans[b] && (best < 0 || runs[b].range.size() < runs[best].range.size())) best = b;
    return best;
}

std::vector<int> order_of_parts(const std::vector<Run>& runs, const Cell& cell) {
    int first = joining_branch(runs, cell.before);
    int last = joining_branch(runs, cell.after);
    if (first >= 0 && first == last) (cell.odd != runs[first].odd ? last : first) = -1;
    std::vector<int> order;
    if (first >= 0) order.push_back(first);
    for (int b = 0; b < static_cast<int>(runs.size()); ++b)
        if (b != first && b != last) order.push_back(b);
    if (last >= 0) order.push_back(last);
    return order;
}

/// A Query answers one query; it remembers the intervals that it has computed, by the shape of the
/// vertex, so that none is computed twice. `vertex` stands for every vertex of its shape. If leaves
/// have blocks, the one at position i owns the i-th block of so many elements in the end, and each
/// vertex is remembered by itself.
class Query {
  public:
    Query(const Tree& tree, std::int64_t count_elems, std::int64_t granule_elems,
          std::span<const char> dealt, std::int64_t block_elems = 0)
        : tree_(tree),
          count_elems_(count_elems),
          granule_elems_(granule_elems),
          dealt_(dealt),
          block_elems_(block_elems) {}

    const Cell& cell_at(int vertex, std::int64_t at);
    Run run_at(int vertex, std::int64_t at);
    Interval interval_at(int vertex, std::int64_t at);
    std::vector<Interval> intervals(int vertex, std::span<const Range> windows);

  private:
    using Cells = std::map<std::int64_t, Cell>;  ///< by begin

    /// Returns what tells vertices apart that have different cells.
    int key_of(int vertex) const { return block_elems_ > 0 ? vertex : tree_.vertex(vertex).shape; }
    bool is_dealt(int vertex) const {
        return !dealt_.empty() && dealt_[static_cast<std::size_t>(tree_.vertex(vertex).shape)] != 0;
    }
    Range blocks_of(int vertex) const;
    Range zone_at(int vertex, std::int64_t at) const;
    bool has_blocks_at(int vertex, std::int64_t at) const;
    Range granule_at(std::int64_t at) const;
    std::size_t dealt_to(int vertex, std::int64_t at) const;
    Run dealt_run_at(int vertex, std::int64_t at);
    Interval dealt_interval_at(int vertex, std::int64_t at);
    std::vector<Run> runs_of_branches(int vertex, std::int64_t at);
    Cell make_cell(int vertex, std::int64_t at);
    void split(Cell& cell) const;
    void extend_left(int vertex, std::size_t branch, const Cell* cell, Run& run);
    void extend_right(int vertex, std::size_t branch, const Cell* cell, Run& run);

    const Tree& tree_;
    std::int64_t count_elems_;
    std::int64_t granule_elems_;
    std::span<const char> dealt_;
    std::int64_t block_elems_;              ///< 0: leaves have none
    std::unordered_map<int, Cells> cells_;  ///< by key_of()
};

/// Returns the blocks of the leaves below a vertex; nothing if leaves have none.
Range Query::blocks_of(int vertex) const {
    const Vertex& here = tree_.vertex(vertex);
    return {here.first_leaf * block_elems_, (here.first_leaf + here.leaf_count) * block_elems_};
}

/// Returns the elements around `at` that the vertex gives its branches by one rule: the blocks of
/// its leaves, or all that is left or right of them; without blocks everything.
Range Query::zone_at(int vertex, std::int64_t at) const {
    const Range blocks = blocks_of(vertex);
    if (blocks.empty()) return {0, count_elems_};
    if (at < blocks.begin) return {0, blocks.begin};
    if (at >= blocks.end) return {blocks.end, count_elems_};
    return blocks;
}

/// Returns whether the element is in the block of a leaf below the vertex.
bool Query::has_blocks_at(int vertex, std::int64_t at) const {
    const Range blocks = blocks_of(vertex);
    return blocks.begin <= at && at < blocks.end;
}

const Cell& Query::cell_at(int vertex, std::int64_t at) {
    const int key = key_of(vertex);
    Cells& known = cells_[key];
    auto next = known.upper_bound(at);
    if (next != known.begin()) {
        const Cell& candidate = std::prev(next)->second;
        if (at < candidate.range.end) return candidate;
    }
    Cell made = make_cell(vertex, at);
    const std::int64_t begin = made.range.begin;
    return cells_[key].emplace(begin, std::move(made)).first->second;
}

/// Returns the runs at `at`. Owners' positions are among the leaves of `vertex`. Neighbours of the
/// same cells are asked once.
std::vector<Run> Query::runs_of_branches(int vertex, std::int64_t at) {
    const int first_leaf = tree_.vertex(vertex).first_leaf;
    std::vector<Run> runs;
    runs.reserve(tree_.children(vertex).size());
    int asked_key = -1;
    Run asked;
    for (const int child : tree_.children(vertex)) {
        const Vertex& branch = tree_.vertex(child);
        if (key_of(child) != asked_key) asked = run_at(child, at);
        asked_key = key_of(child);
        runs.push_back({asked.range, branch.first_leaf - first_leaf + asked.leaf, asked.odd});
    }
    return runs;
}

Cell Query::make_cell(int vertex, std::int64_t at) {
    const std::vector<Run> runs = runs_of_branches(vertex, at);
    Cell cell;
    cell.range = zone_at(vertex, at);
    for (const Run& run : runs) {
        cell.range = intersect(cell.range, run.range);
        cell.owners.push_back(run.leaf);
        cell.odd ^= run.odd;
    }
    for (const Run& run : runs) {
        cell.before.push_back(run.range.begin < cell.range.begin ? 1 : 0);
        cell.after.push_back(run.range.end > cell.range.end ? 1 : 0);
    }
    cell.order = order_of_parts(runs, cell);
    if (!has_blocks_at(vertex, at)) {
        split(cell);
        return cell;
    }
    for (const int child : tree_.children(vertex))
        cell.parts.push_back(intersect(cell.range, blocks_of(child)));
    return cell;
}

void Query::split(Cell& cell) const {
    const Range whole = cell.range;
    const auto degree = static_cast<std::int64_t>(cell.order.size());
    const std::int64_t granules = (whole.size() + granule_elems_ - 1) / granule_elems_;
    const std::int64_t extra = granules % degree;
    const std::int64_t rotation = (whole.begin / granule_elems_) % degree;
    cell.parts.resize(cell.order.size());
    std::int64_t begin = whole.begin;
    for (int branch : cell.order) {
        const bool gets_extra = (branch - rotation + degree) % degree < extra;
        const std::int64_t share = granules / degree + (gets_extra ? 1 : 0);
        const std::int64_t room = whole.end - begin;
        const std::int64_t end =
            share > room / granule_elems_ ? whole.end : begin + share * granule_elems_;
        cell.parts[branch] = {begin, end};
        begin = end;
    }
}

Range Query::granule_at(std::int64_t at) const {
    const std::int64_t begin = at / granule_elems_ * granule_elems_;
    return {begin, begin + std::min(granule_elems_, count_elems_ - begin)};
}

std::size_t Query::dealt_to(int vertex, std::int64_t at) const {
    if (has_blocks_at(vertex, at)) {
        const auto children = tree_.children(vertex);
        const auto owns = [&](int child) { return has_blocks_at(child, at); };
        return static_cast<std::size_t>(std::find_if(children.begin(), children.end(), owns) -
                                        children.begin());
    }
    const auto degree = static_cast<std::uint64_t>(tree_.children(vertex).size());
    const auto granule = static_cast<std::uint64_t>(at / granule_elems_);
    const std::uint64_t round = granule / degree;
    const auto height = static_cast<std::uint64_t>(tree_.vertex(vertex).height);
    const std::uint64_t first = scrambled(round + (height << 48)) % degree;
    return static_cast<std::size_t>((granule + first) % degree);
}

Run Query::dealt_run_at(int vertex, std::int64_t at) {
    const int child = tree_.children(vertex)[dealt_to(vertex, at)];
    const int leaf = tree_.vertex(child).first_leaf - tree_.vertex(vertex).first_leaf;
    return {granule_at(at), leaf + run_at(child, at).leaf, false};
}

Interval Query::dealt_interval_at(int vertex, std::int64_t at) {
    Interval interval{granule_at(at), {}, {}};
    for (const int child : tree_.children(vertex))
        interval.owners.push_back(
            tree_.rank_at(tree_.vertex(child).first_leaf + run_at(child, at).leaf));
    interval.parts.assign(interval.owners.size(), {interval.range.begin, interval.range.begin});
    interval.parts[dealt_to(vertex, at)] = interval.range;
    return interval;
}

Run Query::run_at(int vertex, std::int64_t at) {
    if (tree_.is_leaf(vertex)) return {{0, count_elems_}, 0, false};
    if (is_dealt(vertex)) return dealt_run_at(vertex, at);
    const Cell& cell = cell_at(vertex, at);
    const auto holds = [&](int b) {
        const Range part = cell.parts[b];
        return part.begin <= at && at < part.end;
    };
    const auto position = std::find_if(cell.order.begin(), cell.order.end(), holds);
    const auto branch = static_cast<std::size_t>(*position);
    Run run{cell.parts[branch], cell.owners[branch], false};
    extend_left(vertex, branch, &cell, run);
    extend_right(vertex, branch, &cell, run);
    return run;
}

/// Joins pieces of one branch over a cut where its owner stays; `odd` is that of the run's first
/// piece.
void Query::extend_left(int vertex, std::size_t branch, const Cell* cell, Run& run) {
    while (run.range.begin == cell->range.begin && cell->before[branch]) {
        const Cell& left = cell_at(vertex, run.range.begin - 1);
        const Range part = left.parts[branch];
        if (part.empty() || part.end != run.range.begin) break;
        run.range.begin = part.begin;
        cell = &left;
    }
    const auto& order = cell->order;
    const auto position =
        std::find(order.begin(), order.end(), static_cast<int>(branch)) - order.begin();
    run.odd = cell->odd != ((position & 1) != 0);
}

void Query::extend_right(int vertex, std::size_t branch, const Cell* cell, Run& run) {
    while (run.range.end == cell->range.end && cell->after[branch]) {
        const Cell& right = cell_at(vertex, run.range.end);
        const Range part = right.parts[branch];
        if (part.empty() || part.begin != run.range.end) break;
        run.range.end = part.end;
        cell = &right;
    }
}

Interval Query::interval_at(int vertex, std::int64_t at) {
    if (is_dealt(vertex)) return dealt_interval_at(vertex, at);
    const Cell& cell = cell_at(vertex, at);
    Interval interval{cell.range, cell.owners, cell.parts};
    for (int& owner : interval.owners)
        owner = tree_.rank_at(tree_.vertex(vertex).first_leaf + owner);
    return interval;
}

std::vector<Interval> Query::intervals(int vertex, std::span<const Range> windows) {
    std::vector<Interval> answer;
    std::int64_t done = 0;
    for (const Range& wanted : windows) {
        const Range window = intersect(wanted, {done, count_elems_});
        for (std::int64_t at = window.begin; at < window.end; at = done) {
            answer.push_back(interval_at(vertex, at));
            done = answer.back().range.end;
        }
    }
    return answer;
}

std::vector<Range> parts_of_branch(const std::vector<Interval>& intervals, int branch) {
    std::vector<Range> parts;
    for (const Interval& interval : intervals)
        append_joined(parts, interval.parts[static_cast<std::size_t>(branch)]);
    return parts;
}

}  // namespace

OwnershipMap::OwnershipMap(const Tree& tree, std::int64_t count_elems, std::int64_t granule_elems,
                           std::span<const char> dealt, Ends ends)
    : tree_(tree),
      count_elems_(count_elems),
      granule_elems_(granule_elems),
      dealt_(dealt),
      block_elems_(ends == Ends::in_blocks ? count_elems / tree.rank_count() : 0),
      block_units_((block_elems_ + granule_elems - 1) / granule_elems) {}

std::vector<OwnedRange> OwnershipMap::owners(int vertex, Range window) const {
    Query query(tree_, count_elems_, granule_elems_, dealt_);
    window = intersect(window, {0, count_elems_});
    const int first_leaf = tree_.vertex(vertex).first_leaf;
    std::vector<OwnedRange> answer;
    for (std::int64_t at = window.begin; at < window.end; at = answer.back().range.end) {
        const Run run = query.run_at(vertex, at);
        const Range range = intersect(run.range, window);
        const int rank = tree_.rank_at(first_leaf + run.leaf);
        if (!answer.empty() && answer.back().rank == rank)
            answer.back().range.end = range.end;  // these granules were dealt to one rank
        else
            answer.push_back({range, rank});
    }
    return answer;
}

std::vector<Interval> OwnershipMap::intervals(int vertex, Range window) const {
    return intervals(vertex, std::span(&window, 1));
}

std::vector<Interval> OwnershipMap::intervals(int vertex, std::span<const Range> windows) const {
    return Query(tree_, count_elems_, granule_elems_, dealt_).intervals(vertex, windows);
}

void OwnershipMap::append_elements(std::vector<Range>& ranges, Range units) const {
    if (block_elems_ == 0) return append_joined(ranges, units);
    for (std::int64_t at = units.begin; at < units.end;) {
        const std::int64_t leaf = at / block_units_;
        const std::int64_t end = std::min(units.end, (leaf + 1) * block_units_);
        const std::int64_t first = tree_.rank_at(static_cast<int>(leaf)) * block_elems_;
        const auto element = [&](std::int64_t unit) {
            return first + std::min(block_elems_, (unit - leaf * block_units_) * granule_elems_);
        };
        append_joined(ranges, {element(at), element(end)}, block_elems_);
        at = end;
    }
}

std::vector<std::vector<Interval>> OwnershipMap::intervals_above(int rank) const {
    const bool has_blocks = block_elems_ > 0;
    const std::int64_t count = has_blocks ? tree_.rank_count() * block_units_ : count_elems_;
    Query query(tree_, count, has_blocks ? 1 : granule_elems_, dealt_, block_units_);
    std::vector<std::vector<Interval>> levels;
    std::vector<Range> owned{{0, count}};
    for (int child = tree_.leaf_of(rank); child != tree_.root();
         child = tree_.vertex(child).parent) {
        levels.push_back(query.intervals(tree_.vertex(child).parent, owned));
        owned = parts_of_branch(levels.back(), tree_.vertex(child).branch);
    }
    return levels;
}

std::vector<Range> OwnershipMap::target(int rank, int vertex) const {
    Query query(tree_, count_elems_, granule_elems_, dealt_);
    std::vector<Range> owned;
    append_joined(owned, {0, count_elems_});
    for (int child = tree_.leaf_of(rank); child != vertex; child = tree_.vertex(child).parent)
        owned = parts_of_branch(query.intervals(tree_.vertex(child).parent, owned),
                                tree_.vertex(child).branch);
    return owned;
}

}  // namespace gradcoll
