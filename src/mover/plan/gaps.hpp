// mover/plan/gaps.hpp - when a tensor is not used for a while, so that it could be away.
#pragma once

#include <cstddef>
#include <vector>

#include "mover/program/program.hpp"

namespace gradcoll::mover {

/// Operators between two uses of a tensor that follow each other.
struct Gap {
    std::int32_t tensor = 0;
    std::int32_t after = -1;  ///< -1: from the begin of the step
    std::int32_t need = 0;
    std::int64_t bytes = 0;
    Tick ticks = 0;  ///< one way
};

/// Index for what is kept by Gap::after: the begin of the step comes first.
inline std::size_t slot_after(std::int32_t op) {
    return static_cast<std::size_t>(std::int64_t{op} + 1);
}

/// Which kinds may move, and from which size on.
struct MovableKinds {
    bool activations = true;
    bool parameters = false;
    bool gradients = false;
    bool optimizer = true;
    std::int64_t least_bytes = 1 << 20;

    bool allows(const DeviceTensor& tensor) const;
};

/// Gaps with at least one operator in them, by tensor. Complexity: linear in uses.
std::vector<Gap> gaps_of(const RankProgram& rank, const Lane& lane, const MovableKinds& kinds);

}  // namespace gradcoll::mover
