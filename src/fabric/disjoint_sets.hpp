// fabric/disjoint_sets.hpp - sets of n things that can be joined (union-find).
#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace gradcoll {

/// DisjointSets names a set by its lowest member, so that the order of joining does not matter.
class DisjointSets {
  public:
    explicit DisjointSets(std::size_t count = 0) : parent_(count) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }

    /// Adds one element as a set of its own, and returns it.
    int add() {
        parent_.push_back(static_cast<int>(parent_.size()));
        return parent_.back();
    }

    int find(int member) {
        while (parent(member) != member) {
            parent(member) = parent(parent(member));
            member = parent(member);
        }
        return member;
    }

    void join(int a, int b) {
        a = find(a);
        b = find(b);
        if (a > b) std::swap(a, b);
        parent(b) = a;
    }

  private:
    int& parent(int member) { return parent_[static_cast<std::size_t>(member)]; }

    std::vector<int> parent_;
};

}  // namespace gradcoll
