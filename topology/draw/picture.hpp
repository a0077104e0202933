// topology/draw/picture.hpp - what the pictures (DOT, SVG) of a tree have in common: which entries
// they show, and what is written into them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "topology/draw/outline.hpp"

namespace gradcoll {

/// As many entries as a picture takes: the lowest levels are left out first, then further branches
/// of the root.
Outline outline_for_picture(const Tree& tree);

/// The lines in the box of an entry; in names control characters are escaped (title_parts()).
std::vector<std::string> lines_of_entry(const Tree& tree, const Outline& outline, std::size_t e);

/// "16 ranks on 4 hosts".
std::string picture_heading(const Tree& tree);

}  // namespace gradcoll
