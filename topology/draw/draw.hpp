// topology/draw/draw.hpp - a tree for people: indented text (like lstopo) and Graphviz DOT.
#pragma once

#include <string>

#include "topology/tree.hpp"

namespace gradcoll {

std::string draw_text(const Tree& tree);
std::string draw_dot(const Tree& tree);

}  // namespace gradcoll
