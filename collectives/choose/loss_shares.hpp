// collectives/choose/loss_shares.hpp - which encodings get more of what a call may lose
// (gc_tolerance): those whose bytes cross the links that are busy longest. Pure.
//
// An encoding that may lose k parts of n, if all would have had one of m, takes log2(k m / n) bits
// a value less than with equal shares. So the links that are busy longest are done sooner, and all
// others later: as long as those are not busiest then, the call is.
#pragma once

#include <array>

#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// How many parts an encoding may get, if not one. Few: each makes another codec (codec_with()).
inline constexpr std::array loss_part_choices = {2, 4, 8};

/// With those parts that shorten an allreduce the most, if any do; else as it is. Looks at codecs
/// that a looser tolerance makes shorter, if the user has not dealt out parts himself. Time: a few
/// times that of counting bytes on links.
void deal_out_loss(const Tree& tree, const Tuning& tuning, PlanSpec& spec);

}  // namespace gradcoll
