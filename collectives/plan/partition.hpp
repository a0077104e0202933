// collectives/plan/partition.hpp - computes who owns which elements at each vertex of the tree
// (FlexReduce ownership), and estimates from the shapes alone how finely overlays cut a vector.
// Pure arithmetic on half-open ranges; knows nothing of memory, MPI or codecs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan/range.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

struct OwnedRange {
    Range range;
    int rank = -1;
    friend bool operator==(const OwnedRange&, const OwnedRange&) = default;
};

/// An Interval of a vertex lies between two neighbouring cuts: it has one owner in each branch
/// before the vertex's reduce-scatter, which splits it into one part for each branch.
struct Interval {
    Range range;
    std::vector<int> owners;   ///< by branch: the rank that owns the interval before
    std::vector<Range> parts;  ///< by branch: what that owner keeps afterwards (may be empty);
                               ///< disjoint, covering `range`
};

/// OwnershipMap computes ownership of `count_elems` elements cut only at multiples of
/// `granule_elems` (and at the end).
///
/// For every inner vertex, leaves to root, the cuts are the union of the ownership boundaries of
/// all branches; every interval between cuts has one owner in each branch and is split into as many
/// parts as there are branches, equal up to one granule. Which branches get the odd granules
/// rotates with the interval's position, so that none is favoured.
///
/// The order of the parts is this: beside a cut comes the branch whose owner is the same on both
/// sides of it (if there are several, the one with the shortest range, then the lowest), so that
/// its two pieces join to one range; the others lie between in branch order. A branch wanted at
/// both ends takes one end in even intervals and the other in odd ones. This needs only the
/// interval's own owners, never a count of the intervals before it.
///
/// A vertex whose shape is `dealt` has no overlay: every granule is an interval of its own and goes
/// whole to one branch. Granules are dealt like cards: in each round every branch gets one, and the
/// branch where a round begins changes from round to round and from height to height, so that ranks
/// far below get even shares, too. Who owns a granule then follows from one way down the tree,
/// whatever is beside it. This is for trees whose branches are so different that overlays cut finer
/// than plans can be; granules should then be coarse.
///
/// With Ends::in_blocks rank r ends with elements [r * block, (r + 1) * block), as MPI prescribes
/// for reduce-scatters and allgathers. Inside a subtree the block of each of its ranks goes whole
/// to that rank, and what belongs to ranks elsewhere is shared as above. So the uplink of a subtree
/// carries what others own and what its own ranks own, each once for each other branch. Ownership
/// is then worked out in units: granules of the blocks, in the order of the leaves, in which the
/// blocks of a subtree are neighbours. append_elements() says which elements they are.
///
/// Nothing is precomputed for the whole tree. Ownership inside a subtree depends on its shape alone
/// (Vertex::shape), and with blocks on where it lies in the tree, so a query costs time and memory
/// in proportion to its answer and to the degrees of the different shapes below it, however often a
/// shape is there. Immutable, thread safe; keeps references to `tree` and `dealt`. Source:
/// FlexReduce (Lee et al., DAC 2020), BlueConnect (Cho et al., MLSys 2019).
class OwnershipMap {
  public:
    /// Ends says what each rank owns after the root: equal shares, wherever they lie, or its block.
    enum class Ends : std::uint8_t { in_equal_shares, in_blocks };

    OwnershipMap(const Tree& tree, std::int64_t count_elems, std::int64_t granule_elems,
                 std::span<const char> dealt = {}, Ends ends = Ends::in_equal_shares);

    std::int64_t count_elems() const { return count_elems_; }
    std::int64_t granule_elems() const { return granule_elems_; }
    /// Adds the elements of what intervals_above() says at the end of `ranges`: without blocks
    /// these are the same numbers. Ranges of one block are joined where they touch.
    void append_elements(std::vector<Range>& ranges, Range units) const;

    // The functions that ask for windows are for maps without blocks.

    /// Returns who owns the elements of `window` inside the subtree of `vertex` after the
    /// reduce-scatter of `vertex` itself: ascending, gapless, clipped to `window`, neighbours of
    /// one rank joined.
    std::vector<OwnedRange> owners(int vertex, Range window) const;

    /// Returns the intervals of inner vertex `vertex` that overlap `window`, whole (not clipped),
    /// ascending.
    std::vector<Interval> intervals(int vertex, Range window) const;

    /// Returns the intervals for several windows, ascending and disjoint; an interval that overlaps
    /// two of them comes once.
    std::vector<Interval> intervals(int vertex, std::span<const Range> windows) const;

    /// Returns for every vertex above `rank`, leaves to root, the intervals that the rank has a
    /// part in: intervals(vertex, what the rank owns before that vertex). One query serves the
    /// whole path.
    std::vector<std::vector<Interval>> intervals_above(int rank) const;

    /// Returns what `rank` owns after the reduce-scatter of `vertex` (one of its ancestors, or its
    /// own leaf: everything): ascending, neighbours joined.
    std::vector<Range> target(int rank, int vertex) const;

  private:
    const Tree& tree_;
    std::int64_t count_elems_;
    std::int64_t granule_elems_;
    std::span<const char> dealt_;
    std::int64_t block_elems_;  ///< 0: ranks do not end with blocks
    std::int64_t block_units_;
};

/// Returns about how many pieces a rank's plan has at most because of cuts, in a vector of so many
/// granules: at each vertex above it, for every interval but one that it owns before, one for each
/// other branch. Branches that are all alike give none, however many they are. Intervals lie
/// between the cuts of all branches; those of equal shapes coincide. An interval is split into one
/// part for each branch, and of two different branches one joins over a cut. Time: linear in the
/// branches of different shapes.
double most_cut_pieces(const Tree& tree, std::int64_t granules);

/// A subtree with so few intervals takes microseconds to look at.
inline constexpr std::int64_t most_overlay_intervals = 8;

/// Returns for OwnershipMap, by shape (index: as Tree::vertex_of_shape()), 1 if an overlay would
/// have more intervals than that. Then all vertices above are dealt, too. Time: as
/// most_cut_pieces().
std::vector<char> dealt_shapes(const Tree& tree);

}  // namespace gradcoll
