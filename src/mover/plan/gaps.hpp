// mover/plan/gaps.hpp - finds when a tensor is not used for a while, so that it could be away; and
// which of these gaps a rank uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mover/program/program.hpp"

namespace gradcoll::mover {

/// A gap is the operators between two successive uses of a tensor. A tensor that stays has one gap
/// around the begin of the step; if it lives in the host, that gap has two parts: the head ends
/// with a PREFETCH before its first use, the tail begins with a TRANSFER after its last.
enum class GapPart : std::uint8_t { whole, head, tail };

struct Gap {
    std::int32_t tensor = 0;
    std::int32_t after = -1;  ///< -1: the begin of the step
    std::int32_t need = 0;    ///< for a tail: the number of operators
    std::int64_t bytes = 0;
    Tick ticks = 0;  ///< time of a move one way
    GapPart part = GapPart::whole;
    std::int32_t in_host = -1;  ///< the operator that needs it in the host; -1: none

    /// Returns whether the gap is used whatever it costs.
    bool must() const { return part != GapPart::whole || in_host >= 0; }
    bool transfers() const { return part != GapPart::head; }
    bool prefetches() const { return part != GapPart::tail; }
};

/// Returns the index of an operator in lists by Gap::after; the begin of the step comes first.
inline std::size_t slot_after(std::int32_t op) {
    return static_cast<std::size_t>(std::int64_t{op} + 1);
}

/// MovableKinds says which kinds may move, and from which size on.
struct MovableKinds {
    bool activations = true;
    bool parameters = false;
    bool gradients = false;
    bool optimizer = true;
    std::int64_t least_bytes = 1 << 20;

    bool allows(const DeviceTensor& tensor) const;
};

/// Homes lists the tensors of a rank that live in the host, in ascending order.
using Homes = std::vector<std::int32_t>;

/// Returns the gaps with at least one operator in them, by tensor: those of kinds that may move,
/// those that an operator needs in the host, and both parts for tensors that live there, whatever
/// their kind. Complexity: linear in uses.
std::vector<Gap> gaps_of(const RankProgram& rank, const Lane& lane, const MovableKinds& kinds,
                         const Homes& homes = {});

/// Returns the tensors that may live in the host, in the order in which they are sent there: those
/// that stay and may move, optimizer before gradients before parameters.
Homes may_live_in_host(const RankProgram& rank, const MovableKinds& kinds);

/// A ChosenMove is a gap that is used, with the operator from which on its prefetch may start.
struct ChosenMove {
    Gap gap;
    std::int32_t prefetch_at = 0;
};

using RankChoice = std::vector<ChosenMove>;

}  // namespace gradcoll::mover
