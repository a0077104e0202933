// topology/draw/picture.hpp - what the pictures (DOT, SVG) of a tree share: which entries they
// show, and what is written into them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "topology/draw/outline.hpp"

namespace gradcoll {

/// Returns as many entries as fit into a picture: the lowest levels are left out first, then
/// further branches of the root.
Outline outline_for_picture(const Tree& tree);

/// Returns the lines in the box of an entry; control characters in names are escaped
/// (title_parts()).
std::vector<std::string> lines_of_entry(const Tree& tree, const Outline& outline, std::size_t e);

/// Returns a heading such as "16 ranks on 4 hosts".
std::string picture_heading(const Tree& tree);

}  // namespace gradcoll
