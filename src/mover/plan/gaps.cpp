// mover/plan/gaps.cpp - see gaps.hpp.
#include "mover/plan/gaps.hpp"

#include <algorithm>

namespace gradcoll::mover {

bool MovableKinds::allows(const DeviceTensor& tensor) const {
    if (tensor.bytes < least_bytes) return false;
    switch (tensor.kind) {
        case MemoryKind::activations:
            return activations;
        case MemoryKind::parameters:
            return parameters;
        case MemoryKind::gradients:
            return gradients;
        case MemoryKind::optimizer:
            return optimizer;
        default:
            return false;
    }
}

std::vector<Gap> gaps_of(const RankProgram& rank, const Lane& lane, const MovableKinds& kinds,
                         const Homes& homes) {
    const auto count = static_cast<std::int32_t>(rank.operators.size());
    std::vector<Gap> gaps;
    for (std::size_t t = 0; t < rank.tensors.size(); ++t) {
        const DeviceTensor& tensor = rank.tensors[t];
        const auto number = static_cast<std::int32_t>(t);
        const bool may_move = kinds.allows(tensor);
        const bool is_home = std::binary_search(homes.begin(), homes.end(), number);
        if (!may_move && !is_home && tensor.host_use < 0) continue;
        // Each piece but one adds a latency, and what its time is rounded up by.
        const Tick ticks = lane.ticks(tensor.bytes) + (tensor.pieces - 1) * (lane.latency + 1);
        const auto add = [&](std::int32_t after, std::int32_t need, GapPart part) {
            const bool in_host = tensor.host_use > after && tensor.host_use < need;
            if (may_move || part != GapPart::whole || in_host)
                gaps.push_back({number, after, need, tensor.bytes, ticks, part,
                                in_host ? tensor.host_use : -1});
        };
        std::int32_t after = -1;
        bool is_there = tensor.stays && !is_home;
        if (is_home) add(-1, tensor.uses.front(), GapPart::head);
        for (const std::int32_t use : tensor.uses) {
            if (is_there && use > after + 1) add(after, use, GapPart::whole);
            after = use;
            is_there = true;
        }
        if (is_home) add(after, count, GapPart::tail);
    }
    return gaps;
}

Homes may_live_in_host(const RankProgram& rank, const MovableKinds& kinds) {
    Homes out;
    for (const MemoryKind kind :
         {MemoryKind::optimizer, MemoryKind::gradients, MemoryKind::parameters})
        for (std::size_t t = 0; t < rank.tensors.size(); ++t) {
            const DeviceTensor& tensor = rank.tensors[t];
            if (tensor.kind == kind && tensor.stays && tensor.host_use < 0 &&
                !tensor.uses.empty() && kinds.allows(tensor))
                out.push_back(static_cast<std::int32_t>(t));
        }
    return out;
}

}  // namespace gradcoll::mover
