// runtime/one_host/pieces.hpp - how a long vector is cut to travel through block slots.
#pragma once

#include <algorithm>
#include <cstddef>

namespace gradcoll {

/// Pieces of whole cache lines, as few as `most_bytes` allows and these as even as can be. The last
/// may be shorter. At least one, which may be empty.
class Pieces {
  public:
    /// `most_bytes`: at least a cache line.
    Pieces(std::size_t count, std::size_t elem_bytes, std::size_t most_bytes)
        : total_elems_(count), elem_bytes_(elem_bytes) {
        const std::size_t line_elems = std::max<std::size_t>(1, line_bytes / elem_bytes);
        const std::size_t most = most_bytes / (line_elems * elem_bytes) * line_elems;
        const std::size_t wanted = std::max<std::size_t>(1, ceil_div(count, most));
        piece_elems_ =
            std::max(line_elems, ceil_div(ceil_div(count, wanted), line_elems) * line_elems);
        count_ = std::max<std::size_t>(1, ceil_div(count, piece_elems_));
    }

    std::size_t count() const { return count_; }
    std::size_t elems(std::size_t piece) const {
        return std::min(piece_elems_, total_elems_ - piece * piece_elems_);
    }
    std::size_t bytes(std::size_t piece) const { return elems(piece) * elem_bytes_; }
    /// From the first byte of the vector.
    std::size_t offset(std::size_t piece) const { return piece * piece_elems_ * elem_bytes_; }

  private:
    static constexpr std::size_t line_bytes = 64;
    static std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

    std::size_t total_elems_;
    std::size_t elem_bytes_;
    std::size_t piece_elems_;
    std::size_t count_;
};

}  // namespace gradcoll
