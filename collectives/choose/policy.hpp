// collectives/choose/policy.hpp - decides how a call is done on a tree: exchange and codec by
// vertex, granule, chunk. It uses only what all ranks share, so that all ranks decide the same.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "collectives/choose/codec_choice.hpp"
#include "collectives/choose/options.hpp"
#include "collectives/choose/short_vectors.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// A Decision is what was chosen, and what was compared for it. draw/decision_text.hpp puts it into
/// words.
struct Decision {
    PlanSpec spec;
    double predicted_us = 0;  ///< 0 unless is_predicted(spec)
    /// Says why flexreduce makes this plan instead of the builder that was asked for; empty: that
    /// builder makes it.
    std::string builder_refusal;
    std::vector<CodecVerdict> codecs;  ///< with CompressIf::pays: every level that was compared,
                                       ///< nearest the ranks first
    std::vector<ShortVectorChange> shortened;  ///< in the order in which they were made
};

/// Fills the rest of `call` (collective, count_elems, type, elem_bytes, in_place as given). The
/// result is not yet checked against the type: make_plan does that. A builder other than flexreduce
/// gets codecs, granule and chunk as flexreduce would, and exchanges only where the user named them
/// (direct elsewhere); CompressIf::pays would ask a model that does not know it, so nothing is
/// compared.
Decision decide(const Tree& tree, const PlanSpec& call, const PolicyOptions& options);

/// An encoding may get so many parts instead of one. There are few choices, since each makes
/// another codec (codec_with()).
inline constexpr std::array loss_part_choices = {2, 4, 8};

/// Gives codecs the parts that shorten an allreduce the most, if any do. Changes only codecs that a
/// looser tolerance makes shorter, and nothing if the user has dealt out parts. Time: a few times
/// that of counting bytes on links.
void deal_out_loss(const Tree& tree, const Tuning& tuning, PlanSpec& spec);

}  // namespace gradcoll
