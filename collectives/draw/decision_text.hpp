// collectives/draw/decision_text.hpp - what the policy chose and why, for people: a line a choice.
#pragma once

#include <string>
#include <string_view>

#include "collectives/choose/policy.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// `tuning`: that it was decided with. What exchanges would take at each vertex is worked out here,
/// for whoever reads it.
std::string text_of(const Tree& tree, const Decision& decision, const Tuning& tuning);
/// The line that says who builds a plan, and why, if that is not who was asked
/// (Decision::builder_refusal); empty where flexreduce was asked.
std::string builder_text(Builder builder, std::string_view refusal);
/// One of its lines.
std::string text_of(const CodecVerdict& verdict);

}  // namespace gradcoll
