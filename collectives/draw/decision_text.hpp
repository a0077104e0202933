// collectives/draw/decision_text.hpp - what the policy chose and why, for people: a line a choice.
#pragma once

#include <string>

#include "collectives/choose/policy.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

std::string text_of(const Tree& tree, const Decision& decision);
/// One of its lines.
std::string text_of(const CodecVerdict& verdict);

}  // namespace gradcoll
