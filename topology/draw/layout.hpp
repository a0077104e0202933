// topology/draw/layout.hpp - where the entries of an outline stand in an SVG. Pure arithmetic.
#pragma once

#include <string>
#include <vector>

#include "topology/draw/outline.hpp"
#include "topology/draw/svg.hpp"

namespace gradcoll {

/// What is to be written at the link above an entry.
struct LinkLabel {
    std::vector<std::string> lines;
    bool marked = false;  ///< the link that people should look at
};

/// An entry's words, as they will be drawn.
struct CardWords {
    std::string title;
    std::string subtitle;             ///< may be empty
    std::vector<std::string> tokens;  ///< leaves drawn as a small box each; then no title
    std::string copies;               ///< "x16"; empty: one
    std::string tip;
    LinkLabel link;
};

struct Card {
    CardWords words;
    bool hangs = false;  ///< below its siblings, at a line on their left
    Box box;             ///< of the front card
    Box band;            ///< the room of the whole subtree; subtrees side by side do not overlap
    double bus = 0;  ///< y where the links to the entries below fork; if it hangs, x of its line
};

struct Layout {
    std::vector<Card> cards;  ///< by entry
    double width = 0;
    double height = 0;
};

enum class Siblings { side_by_side, may_hang };

/// Rows by depth, but all hosts in one row and all leaves in the last. Where siblings may hang,
/// those without entries below them stand one below the other.
Layout layout_of(const Tree& tree, const Outline& outline, std::vector<CardWords> words,
                 Siblings siblings);

// Figures of the cards, in pixels.
inline constexpr double title_size = 12;
inline constexpr double small_size = 10;
inline constexpr double card_height = 38;
inline constexpr double token_side = 22;
inline constexpr double stack_step = 4;  ///< between the cards of a stack
inline constexpr double hang_drop = 8;   ///< from a card to the line at which others hang
inline constexpr int stack_cards = 2;    ///< behind the front one

}  // namespace gradcoll
