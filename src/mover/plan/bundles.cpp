// mover/plan/bundles.cpp - see bundles.hpp.
#include "mover/plan/bundles.hpp"

#include <algorithm>

namespace gradcoll::mover {
namespace {

bool may_be_bundled(const DeviceTensor& tensor, std::int64_t least_bytes) {
    return tensor.kind == MemoryKind::activations && !tensor.stays && tensor.host_use < 0 &&
           tensor.bytes >= least_bytes;
}

}  // namespace

Bundles::Bundles(const Program& step, std::int64_t least_bytes)
    : step_(step), bundled_{step.layer_names, step.tensor_names, {}} {
    for (const RankProgram& rank : step.ranks) bundle(rank, least_bytes);
}

void Bundles::bundle(const RankProgram& rank, std::int64_t least_bytes) {
    RankProgram& out = bundled_.ranks.emplace_back(RankProgram{rank.operators, {}});
    auto& tensors = tensors_.emplace_back();
    std::vector<std::vector<std::size_t>> made_by(rank.operators.size());
    for (std::size_t t = 0; t < rank.tensors.size(); ++t) {
        const DeviceTensor& tensor = rank.tensors[t];
        const auto number = static_cast<std::int32_t>(t);
        if (may_be_bundled(tensor, least_bytes)) {
            auto& like_it = made_by[static_cast<std::size_t>(tensor.uses.front())];
            const auto same = std::find_if(like_it.begin(), like_it.end(), [&](std::size_t b) {
                return out.tensors[b].uses == tensor.uses;
            });
            if (same != like_it.end()) {
                out.tensors[*same].bytes += tensor.bytes;
                ++out.tensors[*same].pieces;
                tensors[*same].push_back(number);
                continue;
            }
            like_it.push_back(out.tensors.size());
        }
        out.tensors.push_back(tensor);
        tensors.push_back({number});
    }
}

MovePlan Bundles::unbundled(const MovePlan& plan, const Rooms& rooms) const {
    MovePlan out{{}, plan.step_ticks};
    for (std::size_t r = 0; r < plan.ranks.size(); ++r) {
        RankMoves& moves = out.ranks.emplace_back(RankMoves{plan.ranks[r].starts, {}, 0});
        for (const Move& move : plan.ranks[r].moves) {
            Move one = move;
            for (const std::int32_t tensor : tensors_[r][static_cast<std::size_t>(move.tensor)]) {
                const Tick ticks = rooms.ranks[r].lane.ticks(
                    step_.ranks[r].tensors[static_cast<std::size_t>(tensor)].bytes);
                one.tensor = tensor;
                one.transfer.end = one.transfer.start + ticks;
                one.prefetch.end = one.prefetch.start + ticks;
                moves.moves.push_back(one);
                one.transfer.start = one.transfer.end;
                one.prefetch.start = one.prefetch.end;
            }
        }
    }
    return out;
}

}  // namespace gradcoll::mover
