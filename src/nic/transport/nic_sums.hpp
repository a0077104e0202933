// nic/transport/nic_sums.hpp - a rank's side of vectors that the agents add
// (nic/agent/group_sums.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "nic/transport/frame_pipe.hpp"
#include "transport/vector_sums.hpp"

namespace gradcoll {

/// NicSums hands a vector to the agent in pieces, frames of the rank to itself, and their sums come
/// back the same way. All ranks cut alike. No more than half of the slots are ahead of the sums: so
/// whoever has a sum knows that others lack no more than the last half, and the pieces that this
/// rank has handed in since then are still in its slots, whatever became of the agents; or in the
/// vector, where they stay if the sums are not put over it.
///
/// Not thread safe.
class NicSums {
  public:
    NicSums(FramePipe& frames, std::uint32_t rank) : frames_(frames), rank_(rank) {}

    /// Returns how many elements a piece of a vector has, in frames of that size.
    static std::size_t elems_a_piece(const SumRequest& request, std::size_t frame_bytes);
    void begin(const SumRequest& request);
    /// Hands in and takes what can be. Returns true if there was anything.
    bool progress();
    /// Returns whether all sums are here, or no more come.
    bool is_over() const { return taken_ == pieces_ || has_ended_; }
    std::uint64_t pieces_done() const { return taken_; }
    /// Puts back what was handed in of the pieces behind the first `pieces`, if the sums were put
    /// over it, and returns how many elements the first have.
    std::size_t give_back_behind(std::uint64_t pieces);

  private:
    std::size_t count_of(std::uint64_t piece) const;
    std::size_t offset_of(std::uint64_t piece) const;
    bool hand_in();
    bool take_sum();
    void end(const std::string& why);
    Status put_in_place(const ArrivedFrame& frame);

    FramePipe& frames_;
    std::uint32_t rank_;
    bool has_ended_ = false;  ///< set for good
    SumRequest request_;
    std::size_t elem_bytes_ = 0;
    std::size_t header_bytes_ = 0;
    std::size_t elems_a_piece_ = 1;
    std::uint64_t before_ = 0;  ///< how many frames earlier vectors had
    std::uint64_t pieces_ = 0;
    std::uint64_t handed_in_ = 0;
    std::uint64_t taken_ = 0;
};

}  // namespace gradcoll
