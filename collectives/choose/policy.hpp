// collectives/choose/policy.hpp - how a call is done on a tree: exchange and codec by
// vertex, granule, chunk. Decided only on what all ranks know alike, so that all ranks decide the
// same.
#pragma once

#include <string>
#include <vector>

#include "collectives/choose/codec_choice.hpp"
#include "collectives/choose/options.hpp"
#include "collectives/choose/short_vectors.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// What was chosen, and what was compared for it. In words: draw/decision_text.hpp.
struct Decision {
    PlanSpec spec;
    double predicted_us = 0;  ///< 0 unless is_predicted(spec)
    /// Why the builder that was wished for does not make this plan, flexreduce makes it instead;
    /// empty: it does.
    std::string builder_refusal;
    std::vector<CodecVerdict> codecs;  ///< with CompressIf::pays: of every level that was weighed,
                                       ///< nearest the ranks first
    std::vector<ShortVectorChange> shortened;  ///< in the order in which they were made
};

/// Fills the rest of `call` (collective, count_elems, type, elem_bytes, in_place as given). The
/// answer is not yet checked against the type: make_plan does that. Another builder than flexreduce
/// is given codecs, granule and chunk as flexreduce would be, and exchanges where the user named
/// them (direct elsewhere); CompressIf::pays asks a model that does not know it, so nothing is
/// weighed.
Decision decide(const Tree& tree, const PlanSpec& call, const PolicyOptions& options);

}  // namespace gradcoll
