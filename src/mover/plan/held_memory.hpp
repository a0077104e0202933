// mover/plan/held_memory.hpp - the bytes held while each operator runs, when tensors come and go
// over long ranges of operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradcoll::mover {

/// HeldMemory is a tree over operators: a node stores what was added to all operators below it, and
/// their maximum without that. Complexity: log n for each call, n to make it.
class HeldMemory {
  public:
    explicit HeldMemory(const std::vector<std::int64_t>& bytes);

    std::size_t count() const { return count_; }
    std::int64_t at(std::size_t op) const;
    /// Returns the most that is held while operators `from` to `end` - 1 run; nothing if there are
    /// none.
    std::int64_t most(std::size_t from, std::size_t end) const;
    /// Returns the first operator at which most is held; 0 if there are none.
    std::size_t first_of_most() const;
    /// Returns the first operator from which on no more than `limit` is held until `end`; not
    /// before `from`. `end` if more is held just before it.
    std::size_t at_most_from(std::size_t from, std::size_t end, std::int64_t limit) const;
    void add(std::size_t from, std::size_t end, std::int64_t bytes);

  private:
    std::size_t last_above(std::size_t node, std::size_t leaves, std::size_t from, std::size_t end,
                           std::int64_t limit) const;

    std::size_t count_ = 0;
    std::size_t leaves_ = 1;  ///< a power of two
    std::vector<std::int64_t> added_, most_;
};

}  // namespace gradcoll::mover
