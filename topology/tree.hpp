// topology/tree.hpp - the machine as an immutable tree whose leaves are the ranks. Pure data: no
// MPI, no hwloc, no clock. Its bytes are the same on every rank (see serialize()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/vertex.hpp"

namespace gradcoll {

/// A Tree numbers its vertices in pre-order from the root (0). Every inner vertex has at least two
/// children: chains are collapsed when the tree is made (the kept vertex is the lower one, with
/// kind and name of the chain's host if there is one; it keeps the slowest bandwidth and the sum of
/// the latencies; a leaf keeps its kind and takes the host's name if it has none, or if it is a GPU
/// with one rank). A tree of one rank is that leaf alone. The root has no uplink. A leaf written
/// without a kind (that is: group) is of kind rank. A rank that is written with children becomes a
/// leaf, the first branch of the vertex in its place. Immutable after make(), so thread safe.
class Tree {
  public:
    /// Checks and collapses a tree. Errors: invalid_argument naming the vertex by its path, such as
    /// /children/1/children/0 (its JSON pointer in the nested JSON form): a rank below 0, twice, or
    /// missing from 0..n-1; a vertex with neither rank nor children (no inner vertex may be without
    /// ranks below); one of kind rank that has no rank; an uplink that is negative or not finite; a
    /// tree beyond the max_ limits above. Complexity: linear in vertices.
    static Result<Tree> make(const TreeSpec& spec);

    /// Makes a tree in which every rank is a child of one vertex. Requires 1 <= rank_count <=
    /// max_tree_ranks.
    static Tree flat(int rank_count);

    int rank_count() const { return static_cast<int>(leaf_of_rank_.size()); }
    int vertex_count() const { return static_cast<int>(vertices_.size()); }
    int root() const { return 0; }
    int height() const { return vertices_.front().height; }
    const Vertex& vertex(int id) const { return vertices_[static_cast<std::size_t>(id)]; }
    std::span<const int> children(int id) const { return vertex(id).children; }
    int leaf_of(int rank) const { return leaf_of_rank_[static_cast<std::size_t>(rank)]; }
    bool is_leaf(int id) const { return vertex(id).rank >= 0; }
    /// Returns the rank of the leaf at a position (see Vertex::first_leaf).
    int rank_at(int position) const { return rank_at_[static_cast<std::size_t>(position)]; }
    /// Returns all inner vertices, ascending.
    std::span<const int> inner_vertices() const { return inner_vertices_; }
    /// Returns one vertex of each shape (index: shape); shapes of children have lower numbers.
    std::span<const int> vertex_of_shape() const { return vertex_of_shape_; }

    /// Returns the vertices on the way from the parent of `rank`'s leaf up to the root (empty for a
    /// tree of one rank).
    std::vector<int> path_up(int rank) const;

    /// Returns the tree of a sub-communicator: rank i of the new tree is `ranks[i]` of this one.
    /// Errors: empty, unknown or repeated rank. Complexity: linear in the vertices of this tree.
    Result<Tree> pruned(std::span<const int> ranks) const;

    /// Returns the editable form (already collapsed).
    TreeSpec spec() const;

    /// Returns a byte string that is equal on two ranks if and only if their trees are equal;
    /// deserialize() parses it, and treats its input as untrusted (errors: corrupt). Little-endian:
    /// "GCTR", u32 version 1, u32 vertex count, then each vertex in pre-order: u8 kind, u32
    /// children, i32 rank, f64 bandwidth, f64 latency, u32 name length, name.
    std::string serialize() const;
    static Result<Tree> deserialize(std::string_view bytes);

    /// Returns a hash of serialize(); every plan key contains it.
    std::uint64_t hash() const { return hash_; }

  private:
    /// Makes a tree from `vertices`, which are collapsed, checked and in pre-order; computes all
    /// that follows from kind, name, parent, rank and uplink.
    static Tree assembled(std::vector<Vertex> vertices);

    /// Finds the leaves' positions and the shapes, once all else is assembled.
    void find_shapes();

    std::vector<Vertex> vertices_;
    std::vector<int> leaf_of_rank_;
    std::vector<int> rank_at_;
    std::vector<int> inner_vertices_;
    std::vector<int> vertex_of_shape_;
    std::uint64_t hash_ = 0;
};

}  // namespace gradcoll
