// mover/plan/gaps.hpp - when a tensor is not used for a while, so that it could be away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mover/program/program.hpp"

namespace gradcoll::mover {

/// Operators between two uses of a tensor that follow each other. A tensor that lives in the host
/// has two of them where others have one around the begin of the step: the head ends with a
/// PREFETCH before its first use, the tail begins with a TRANSFER after its last.
enum class GapPart : std::uint8_t { whole, head, tail };

struct Gap {
    std::int32_t tensor = 0;
    std::int32_t after = -1;  ///< -1: from the begin of the step
    std::int32_t need = 0;    ///< of a tail: how many operators there are
    std::int64_t bytes = 0;
    Tick ticks = 0;  ///< one way
    GapPart part = GapPart::whole;
    std::int32_t in_host = -1;  ///< this operator needs it in the host

    /// Used whatever it costs.
    bool must() const { return part != GapPart::whole || in_host >= 0; }
    bool transfers() const { return part != GapPart::head; }
    bool prefetches() const { return part != GapPart::tail; }
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

/// Tensors of a rank that live in the host, ascending.
using Homes = std::vector<std::int32_t>;

/// Gaps with at least one operator in them, by tensor, of the kinds that may move; those that an
/// operator needs in the host, and both of the tensors that live there, whatever their kind.
/// Complexity: linear in uses.
std::vector<Gap> gaps_of(const RankProgram& rank, const Lane& lane, const MovableKinds& kinds,
                         const Homes& homes = {});

/// Which may live in the host, the first ones first: what stays and may move, optimizer before
/// gradients before parameters.
Homes may_live_in_host(const RankProgram& rank, const MovableKinds& kinds);

}  // namespace gradcoll::mover
