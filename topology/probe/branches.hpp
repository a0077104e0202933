// topology/probe/branches.hpp - the tree of hosts while it is being found.
#pragma once

#include <span>
#include <vector>

namespace gradcoll {

/// Nodes are numbered as they are made; those that nothing names any more stay unused. Hosts are
/// numbered from 0. No node is deeper than there are hosts.
class Branches {
  public:
    /// Node h is host h.
    explicit Branches(int host_count);

    /// A new node above these; one node alone is answered itself. Not empty.
    int above(std::vector<int> children);
    /// A node whose children are still to be named.
    int placeholder();
    void set_children(int node, std::vector<int> children);

    bool is_host(int node) const { return node < host_count_; }
    const std::vector<int>& children(int node) const { return at(node); }
    /// A host stands for itself among the things to be told apart, an inner node its children.
    std::vector<int> parts(int node) const;

    int node_count() const { return static_cast<int>(nodes_.size()); }

    /// Some host below the node: the same one each time.
    int host_below(int node) const;
    std::vector<int> hosts_below(int node) const;
    std::vector<int> host_of_each(std::span<const int> nodes) const;

    /// The inner nodes at and below `root`, level by level from the top.
    std::vector<std::vector<int>> levels(int root) const;

    /// Puts a new node above each of `sets`, which are indices into the children of `node`, smaller
    /// sets first.
    void group_children(int node, const std::vector<std::vector<int>>& sets);

  private:
    const std::vector<int>& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }

    int host_count_;
    std::vector<std::vector<int>> nodes_;  ///< the children of each
};

}  // namespace gradcoll
