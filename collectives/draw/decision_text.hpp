// collectives/draw/decision_text.hpp - says what the policy chose and why, for people: one line for
// each choice.
#pragma once

#include <string>
#include <string_view>

#include "collectives/choose/policy.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Returns the lines. `tuning` is that of the decision. The costs of exchanges at each vertex are
/// computed here.
std::string text_of(const Tree& tree, const Decision& decision, const Tuning& tuning);
/// Returns the line that says who builds a plan, and why, if that is not who was asked
/// (Decision::builder_refusal); empty if flexreduce was asked.
std::string builder_text(Builder builder, std::string_view refusal);
/// Returns the line for one level.
std::string text_of(const CodecVerdict& verdict);

}  // namespace gradcoll
