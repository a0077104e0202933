// topology/draw/layout.cpp - widths from the leaves up, places from the root down.
#include "topology/draw/layout.hpp"

#include <algorithm>
#include <numeric>

namespace gradcoll {

namespace {

constexpr double side_gap = 20;    // between neighbours
constexpr double row_gap = 38;     // between rows without labels
constexpr double label_line = 12;  // height of a line of a link's label
constexpr double bus_drop = 14;    // from a card to where its links fork
constexpr double hang_gap = 20;    // between siblings that stand one below the other
constexpr double hang_indent = 24;

double least_width(const CardWords& words) {
    double width = 0;
    if (!words.tokens.empty()) {
        double token = token_side;
        for (const std::string& text : words.tokens)
            token = std::max(token, text_width(text, small_size) + 8);
        width = token * static_cast<double>(words.tokens.size());
    } else {
        width = 24 + std::max({50.0, text_width(words.title, title_size, true),
                               text_width(words.subtitle, small_size)});
    }
    return width;
}

/// With its label and the cards behind it.
double room_of(const CardWords& words) {
    double width = least_width(words);
    if (!words.copies.empty()) width += 2 * (stack_cards * stack_step + 14);  // and the badge
    for (const std::string& line : words.link.lines)
        width = std::max(width, text_width(line, small_size) + 8);
    return width;
}

class Arranger {
  public:
    Arranger(const Tree& tree, const Outline& outline, std::vector<CardWords> words,
             Siblings siblings)
        : tree_(tree), outline_(outline), rows_(outline.entries.size(), 0) {
        layout_.cards.resize(words.size());
        for (std::size_t e = 0; e < words.size(); ++e) layout_.cards[e].words = std::move(words[e]);
        if (siblings == Siblings::may_hang) hang();
    }

    Layout take() {
        choose_rows();
        const std::vector<double> tops = tops_of_rows();
        choose_widths();
        place(tops);
        for (Card& card : layout_.cards) card.band.h = layout_.height - card.band.y;
        return std::move(layout_);
    }

  private:
    const OutlineEntry& entry(std::size_t e) const { return outline_.entries[e]; }
    Card& card(int e) { return layout_.cards[static_cast<std::size_t>(e)]; }
    const Card& card(int e) const { return layout_.cards[static_cast<std::size_t>(e)]; }
    bool hangs_below(std::size_t e) const {
        return !entry(e).children.empty() && card(entry(e).children.front()).hangs;
    }

    /// A line of links' figures instead of several: they stand beside each other there.
    static void join_lines(LinkLabel& label) {
        for (std::size_t i = 1; i < label.lines.size(); ++i)
            label.lines.front() += ", " + label.lines[i];
        if (!label.lines.empty()) label.lines.resize(1);
    }

    void hang() {
        for (const OutlineEntry& above : outline_.entries) {
            const auto ends_here = [&](int child) {
                return outline_.entries[static_cast<std::size_t>(child)].children.empty();
            };
            if (above.children.size() < 2 ||
                !std::all_of(above.children.begin(), above.children.end(), ends_here))
                continue;
            for (const int child : above.children) {
                card(child).hangs = true;
                join_lines(card(child).words.link);
            }
        }
    }

    bool ends(std::size_t e) const { return tree_.is_leaf(entry(e).vertex()); }

    void choose_rows() {
        int hosts = 0;
        for (const OutlineEntry& e : outline_.entries)
            if (tree_.vertex(e.vertex()).kind == VertexKind::host) hosts = std::max(hosts, e.depth);
        for (std::size_t e = 0; e < rows_.size(); ++e) {
            if (entry(e).parent < 0) continue;
            rows_[e] = rows_[static_cast<std::size_t>(entry(e).parent)] + 1;
            if (tree_.vertex(entry(e).vertex()).kind == VertexKind::host)
                rows_[e] = std::max(rows_[e], hosts);
        }
        const int last = *std::max_element(rows_.begin(), rows_.end());
        for (std::size_t e = 0; e < rows_.size(); ++e)
            if (ends(e) && !layout_.cards[e].hangs) rows_[e] = last;
    }

    /// A row's gap above it has room for the tallest label.
    std::vector<double> tops_of_rows() {
        const auto count =
            static_cast<std::size_t>(*std::max_element(rows_.begin(), rows_.end())) + 1;
        std::vector<std::size_t> lines(count, 0);
        for (std::size_t e = 0; e < rows_.size(); ++e) {
            auto& most = lines[static_cast<std::size_t>(rows_[e])];
            most = std::max(most, layout_.cards[e].words.link.lines.size());
        }
        std::vector<double> tops(count, 0);
        for (std::size_t row = 1; row < count; ++row)
            tops[row] = tops[row - 1] + card_height + row_gap +
                        label_line * static_cast<double>(lines[row]);
        layout_.height = tops.back() + card_height;
        return tops;
    }

    void choose_widths() {
        std::vector<double> below(rows_.size(), 0);
        for (std::size_t e = rows_.size(); e-- > 0;) {
            Card& card = layout_.cards[e];
            card.box.w = least_width(card.words);
            card.band.w = std::max(room_of(card.words), below[e]);
            if (entry(e).parent < 0) continue;
            double& sum = below[static_cast<std::size_t>(entry(e).parent)];
            if (card.hangs)
                sum = std::max(sum, hang_indent + card.band.w);
            else
                sum += card.band.w + (sum > 0 ? side_gap : 0);
        }
        layout_.width = layout_.cards.front().band.w;
    }

    void place(const std::vector<double>& tops) {
        for (std::size_t e = 0; e < rows_.size(); ++e) {
            Card& card = layout_.cards[e];
            if (card.hangs) continue;  // placed with its parent
            card.box.h = card.words.tokens.empty() ? card_height : token_side;
            card.box.y = tops[static_cast<std::size_t>(rows_[e])];
            card.band.y = card.box.y;
            card.bus = card.box.bottom() + bus_drop;
            center(e);
            if (hangs_below(e))
                hang_below(e);
            else
                place_below(e);
        }
    }

    void center(std::size_t e) {
        Card& card = layout_.cards[e];
        card.box.x = card.band.x + (card.band.w - card.box.w) / 2;
    }

    void place_below(std::size_t e) {
        const Card& card = layout_.cards[e];
        double width = -side_gap;
        for (const int child : entry(e).children)
            width += layout_.cards[static_cast<std::size_t>(child)].band.w + side_gap;
        double x = card.band.x + (card.band.w - width) / 2;
        for (const int child : entry(e).children) {
            Box& band = layout_.cards[static_cast<std::size_t>(child)].band;
            band.x = x;
            x += band.w + side_gap;
        }
    }

    void hang_below(std::size_t e) {
        const Card& above = layout_.cards[e];
        double width = 0;
        for (const int child : entry(e).children)
            width = std::max(width, hang_indent + card(child).band.w);
        const double left = above.band.x + (above.band.w - width) / 2;
        double y = above.box.bottom() + hang_drop;
        for (const int child : entry(e).children) {
            Card& hung = card(child);
            y += hang_gap + label_line * static_cast<double>(hung.words.link.lines.size());
            hung.box.h = hung.words.tokens.empty() ? card_height : token_side;
            hung.box.x = left + hang_indent;
            hung.box.y = y;
            hung.band = hung.box;
            hung.bus = left + hang_indent / 2;
            y = hung.box.bottom();
        }
        layout_.height = std::max(layout_.height, y);
    }

    const Tree& tree_;
    const Outline& outline_;
    std::vector<int> rows_;
    Layout layout_;
};

}  // namespace

Layout layout_of(const Tree& tree, const Outline& outline, std::vector<CardWords> words,
                 Siblings siblings) {
    return Arranger(tree, outline, std::move(words), siblings).take();
}

}  // namespace gradcoll
