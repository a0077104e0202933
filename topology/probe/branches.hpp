// topology/probe/branches.hpp - the tree of hosts while the probe is finding it.
#pragma once

#include <span>
#include <vector>

namespace gradcoll {

/// Branches numbers nodes as they are made; nodes that are no longer referred to stay unused. Hosts
/// are numbered from 0. No node is deeper than there are hosts.
class Branches {
  public:
    /// Makes a tree in which node h is host h.
    explicit Branches(int host_count);

    /// Adds a node above these children and returns it; returns a single child itself. Not empty.
    int above(std::vector<int> children);
    /// Adds a node whose children are set later.
    int placeholder();
    void set_children(int node, std::vector<int> children);

    bool is_host(int node) const { return node < host_count_; }
    const std::vector<int>& children(int node) const { return at(node); }
    /// Returns what is compared when the node is split: a host itself, or the children of an inner
    /// node.
    std::vector<int> parts(int node) const;

    int node_count() const { return static_cast<int>(nodes_.size()); }

    /// Returns some host below the node, the same one each time.
    int host_below(int node) const;
    std::vector<int> hosts_below(int node) const;
    std::vector<int> host_of_each(std::span<const int> nodes) const;

    /// Returns the inner nodes at and below `root`, level by level from the top.
    std::vector<std::vector<int>> levels(int root) const;

    /// Puts a new node above each of `sets`, which are indices into the children of `node`, smaller
    /// sets first.
    void group_children(int node, const std::vector<std::vector<int>>& sets);

  private:
    const std::vector<int>& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }

    int host_count_;
    std::vector<std::vector<int>> nodes_;  ///< children, by node
};

}  // namespace gradcoll
