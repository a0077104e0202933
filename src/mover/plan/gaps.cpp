// mover/plan/gaps.cpp - see gaps.hpp.
#include "mover/plan/gaps.hpp"

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

std::vector<Gap> gaps_of(const RankProgram& rank, const Lane& lane, const MovableKinds& kinds) {
    std::vector<Gap> gaps;
    for (std::size_t t = 0; t < rank.tensors.size(); ++t) {
        const DeviceTensor& tensor = rank.tensors[t];
        if (!kinds.allows(tensor)) continue;
        std::int32_t after = -1;
        bool is_there = tensor.stays;
        for (const std::int32_t use : tensor.uses) {
            if (is_there && use > after + 1)
                gaps.push_back({static_cast<std::int32_t>(t), after, use, tensor.bytes,
                                lane.ticks(tensor.bytes)});
            after = use;
            is_there = true;
        }
    }
    return gaps;
}

}  // namespace gradcoll::mover
