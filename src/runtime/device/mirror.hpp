// runtime/device/mirror.hpp - the places of a chunk that messages leave from and come to, once more
// in pinned memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/plan/plan.hpp"

namespace gradcoll {

/// Where the mirror of each message lies. The scratch area is mirrored as it is: its slots are
/// written once in a chunk. Ranges of vectors may overlap while both are on their way, so each
/// range has a mirror of its own, one for sends of it and one for receives. Immutable.
class MirrorLayout {
  public:
    explicit MirrorLayout(const Plan& plan);

    std::size_t size_bytes() const { return size_bytes_; }  ///< of one chunk
    /// From the chunk's mirror; of a message step of the plan's body or tail.
    std::size_t offset_of(const Schedule& schedule, std::size_t step) const {
        return (&schedule == tail_schedule_ ? tail_ : body_)[step];
    }

  private:
    /// By step; of other steps than messages nothing that means anything.
    std::vector<std::size_t> offsets_in(const Schedule& schedule);

    std::size_t elem_bytes_;
    const Schedule* tail_schedule_;
    std::size_t size_bytes_ = 0;
    std::vector<std::size_t> body_, tail_;
};

}  // namespace gradcoll
