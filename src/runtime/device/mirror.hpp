// runtime/device/mirror.hpp - the places of a chunk that messages leave from and come to, once more
// in pinned memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/plan.hpp"

namespace gradcoll {

/// Where the mirror of a message's place lies. The scratch area (with the work vector) is mirrored
/// as it is; of the caller's vectors only those that messages touch. Of allreduces only, whose
/// chunks have all of both vectors.
class MirrorLayout {
  public:
    explicit MirrorLayout(const Plan& plan);

    std::size_t size_bytes() const { return size_bytes_; }  ///< of one chunk
    /// From the chunk's mirror; `slot` and `range` as in Step.
    std::size_t offset_of(const Schedule& schedule, Slot slot, Range range) const;

  private:
    void add(const Schedule& schedule);

    std::size_t elem_bytes_;
    std::size_t scratch_bytes_ = 0;
    std::size_t input_bytes_ = 0;  ///< 0: no message leaves from there
    std::size_t output_bytes_ = 0;
    std::size_t size_bytes_ = 0;
};

}  // namespace gradcoll
