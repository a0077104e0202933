// collectives/choose/loss_shares.hpp - decides which encodings get more of what a call may lose
// (gc_tolerance): those whose bytes cross the links that are busy longest. Pure.
//
// If each encoding had one of m parts with equal shares, one that gets k of n parts takes log2(k m
// / n) bits a value less. So the links that are busy longest are done sooner, and all others later:
// as long as those do not become the busiest, the call is done sooner.
#pragma once

#include <array>

#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// An encoding may get so many parts instead of one. There are few choices, since each makes
/// another codec (codec_with()).
inline constexpr std::array loss_part_choices = {2, 4, 8};

/// Gives codecs the parts that shorten an allreduce the most, if any do. Changes only codecs that a
/// looser tolerance makes shorter, and nothing if the user has dealt out parts. Time: a few times
/// that of counting bytes on links.
void deal_out_loss(const Tree& tree, const Tuning& tuning, PlanSpec& spec);

}  // namespace gradcoll
