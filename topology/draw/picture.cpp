// topology/draw/picture.cpp - how much is shown, its words, and the cards and links on the canvas.
#include "topology/draw/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/draw/draw.hpp"
#include "topology/draw/entry_words.hpp"
#include "topology/draw/legend.hpp"
#include "topology/draw/style.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

constexpr double slide_width = 1760;
constexpr double slide_height = 920;
constexpr std::size_t most_entries = 1000;  // no slide has room for more
constexpr std::size_t title_chars = 24;
constexpr std::size_t subtitle_chars = 24;
constexpr int most_tokens = 8;

constexpr double margin = 24;
constexpr double heading_height = 40;
constexpr double narrowest = 560;
constexpr std::string_view link_colour = "#64748b";
constexpr std::string_view marked_colour = "#dc2626";

std::string counted_ranks(int count) {
    return fmt::format("{} rank{}", count, count == 1 ? "" : "s");
}

/// "ranks 0-23", or how many they are where that would be long.
std::string short_ranks(const Tree& tree, const OutlineEntry& entry) {
    const std::vector<int> ranks = ranks_of(tree, entry);
    std::string text = (ranks.size() == 1 ? "rank " : "ranks ") + number_list(ranks);
    return text.size() <= subtitle_chars ? text : counted_ranks(static_cast<int>(ranks.size()));
}

LinkLabel figures_label(const Tree& tree, int vertex) {
    const Uplink& link = tree.vertex(vertex).uplink;
    LinkLabel label;
    for (const Uplink& half : {Uplink{link.bandwidth_gbytes_per_s, 0}, Uplink{0, link.latency_us}})
        if (std::string text = link_figures_text(half, ""); !text.empty())
            label.lines.push_back(std::move(text));
    return label;
}

void name_leaves(const Tree& tree, const OutlineEntry& entry, CardWords& words) {
    const Vertex& first = tree.vertex(entry.vertex());
    const std::string kind(name_of(first.kind));
    const std::string name = shortened(shared_name(tree, entry), title_chars);
    const bool plain = first.kind == VertexKind::rank && name.empty();
    if (entry.inside_fold) {
        words.title = name.empty() ? kind : name;
        if (!plain && name.empty()) words.subtitle = "a rank each";
        return;
    }
    if (plain && entry.copies() <= most_tokens) {
        for (const int rank : ranks_of(tree, entry)) words.tokens.push_back(std::to_string(rank));
        return;
    }
    const std::string ranks = short_ranks(tree, entry);
    words.title = plain ? ranks : name.empty() ? kind : name;
    if (!plain) words.subtitle = ranks;
}

/// "2 x 12 ranks each" where all branches of a level have as many ranks, else "24 ranks each".
std::string inside_words(const Tree& tree, int vertex) {
    std::string factors;
    int at = vertex;
    for (; tree.vertex(at).height > 1; at = tree.children(at).front()) {
        const int ranks = tree.vertex(tree.children(at).front()).leaf_count;
        for (const int child : tree.children(at))
            if (tree.vertex(child).leaf_count != ranks)
                return counted_ranks(tree.vertex(vertex).leaf_count) + " each";
        factors += fmt::format("{} x ", tree.children(at).size());
    }
    return factors + counted_ranks(tree.vertex(at).leaf_count) + " each";
}

void name_inner(const Tree& tree, const Outline& outline, std::size_t e, CardWords& words) {
    const OutlineEntry& entry = outline.entries[e];
    const Vertex& first = tree.vertex(entry.vertex());
    const std::string name = shared_name(tree, entry);
    words.title = name.empty() ? std::string(name_of(first.kind)) : shortened(name, title_chars);
    if (entry.children.empty() && first.height > 1 && entry.copies() > 1)
        words.subtitle = inside_words(tree, entry.vertex());
    else if (entry.inside_fold)
        words.subtitle = counted_ranks(first.leaf_count);
    else if (entry.copies() > 1)
        words.subtitle = counted_ranks(first.leaf_count) + " each";
    else
        words.subtitle = short_ranks(tree, entry);
    if (outline.left_out[e] > 0)
        words.subtitle += fmt::format("; {} more branches", outline.left_out[e]);
}

CardWords words_of(const Tree& tree, const Outline& outline, std::size_t e,
                   const LabelLink& label) {
    const OutlineEntry& entry = outline.entries[e];
    const Vertex& first = tree.vertex(entry.vertex());
    CardWords words;
    if (first.rank >= 0)
        name_leaves(tree, entry, words);
    else
        name_inner(tree, outline, e, words);
    if (entry.copies() > 1 && words.tokens.empty())
        words.copies = fmt::format("x{}", entry.copies());
    words.tip = title_of(tree, entry);
    if (entry.parent >= 0)
        words.link = label ? label(entry.vertex()) : figures_label(tree, entry.vertex());
    return words;
}

struct Shown {
    Outline outline;
    Layout layout;
    bool folds() const {
        return std::any_of(layout.cards.begin(), layout.cards.end(),
                           [](const Card& card) { return !card.words.copies.empty(); });
    }
    bool fits() const {
        return !layout.cards.empty() && layout.width <= slide_width &&
               layout.height <= slide_height;
    }
};

Shown shown_with(const Tree& tree, const OutlineLimits& limits, const LabelLink& label,
                 Siblings siblings = Siblings::side_by_side) {
    Shown shown{outline_of(tree, limits), {}};
    if (shown.outline.entries.size() > most_entries) return shown;
    std::vector<CardWords> words;
    for (std::size_t e = 0; e < shown.outline.entries.size(); ++e)
        words.push_back(words_of(tree, shown.outline, e, label));
    shown.layout = layout_of(tree, shown.outline, std::move(words), siblings);
    return shown;
}

/// As much as a slide takes: first all that is alike in small numbers unfolded, then folded, then
/// without the lowest levels, at last without some branches.
Shown shown_of(const Tree& tree, const LabelLink& label) {
    constexpr int most_rows = 10;
    constexpr int most_children = 12;
    const int height = tree.height();
    if (height <= most_rows)
        for (int fold_height = 0; fold_height <= height; ++fold_height)
            if (Shown shown = shown_with(tree, {fold_height, 0, 0}, label); shown.fits())
                return shown;
    for (int cut = std::max(1, height - most_rows); cut < height; ++cut)
        for (const Siblings siblings : {Siblings::side_by_side, Siblings::may_hang})
            if (Shown shown = shown_with(tree, {height, cut, 0}, label, siblings); shown.fits())
                return shown;
    return shown_with(tree, {height, std::max(0, height - 1), most_children}, label);
}

class PictureDrawer {
  public:
    PictureDrawer(const Tree& tree, Shown shown) : tree_(tree), shown_(std::move(shown)) {}

    void draw(SvgCanvas& canvas) {
        for (std::size_t e = 0; e < count(); ++e) panel(canvas, e);
        for (const bool marked : {false, true})
            for (std::size_t e = 1; e < count(); ++e)
                if (card(e).words.link.marked == marked) link(canvas, e);
        for (std::size_t e = 0; e < count(); ++e) entry(canvas, e);
        for (std::size_t e = 1; e < count(); ++e) label(canvas, e);
    }

  private:
    std::size_t count() const { return shown_.outline.entries.size(); }
    const Card& card(std::size_t e) const { return shown_.layout.cards[e]; }
    const OutlineEntry& line(std::size_t e) const { return shown_.outline.entries[e]; }
    const Vertex& vertex(std::size_t e) const { return tree_.vertex(line(e).vertex()); }
    /// What stands behind the card reaches so far above it.
    double stack_of(std::size_t e) const {
        return card(e).words.copies.empty() ? 0 : stack_cards * stack_step;
    }

    /// The ground on which everything of a host stands.
    void panel(SvgCanvas& canvas, std::size_t e) const {
        if (vertex(e).kind != VertexKind::host || line(e).children.empty()) return;
        Box ground = card(e).band;
        constexpr double beside = 6;
        ground.x -= beside;
        ground.w += 2 * beside;
        ground.y += card_height / 2;
        ground.h += beside - card_height / 2;
        canvas.rect(ground, 8, {"#fffbeb", "#fde68a", 1});
    }

    using Line = std::vector<std::pair<double, double>>;
    Line line_between(const Card& upper, const Card& lower, std::size_t e) const {
        const double from = upper.box.mid_x();
        const double to = lower.box.mid_x();
        return {{from, upper.box.bottom()},
                {from, upper.bus},
                {to, upper.bus},
                {to, lower.box.y - stack_of(e)}};
    }
    static Line line_beside(const Card& upper, const Card& lower) {
        const double middle = lower.box.y + lower.box.h / 2;
        const double fork = upper.box.bottom() + hang_drop;
        return {{upper.box.mid_x(), upper.box.bottom()},
                {upper.box.mid_x(), fork},
                {lower.bus, fork},
                {lower.bus, middle},
                {lower.box.x, middle}};
    }

    void link(SvgCanvas& canvas, std::size_t e) const {
        const Card& upper = card(static_cast<std::size_t>(line(e).parent));
        const Card& lower = card(e);
        const bool marked = lower.words.link.marked;
        canvas.path(lower.hangs ? line_beside(upper, lower) : line_between(upper, lower, e),
                    {"none", marked ? marked_colour : link_colour, link_width(vertex(e).uplink)});
    }

    void label(SvgCanvas& canvas, std::size_t e) const {
        const CardWords& words = card(e).words;
        if (words.link.lines.empty()) return;
        constexpr double line_height = 12;
        double width = 0;
        for (const std::string& text : words.link.lines)
            width = std::max(width, text_width(text, small_size) + 4);
        const double height = line_height * static_cast<double>(words.link.lines.size());
        double y = card(e).box.y - stack_of(e) - 5 - height;
        const double x = card(e).hangs ? card(e).box.x + width / 2 : card(e).box.mid_x();
        canvas.rect({x - width / 2, y, width, height}, 4, {"#ffffff"});
        for (const std::string& text : words.link.lines) {
            Lettering how{small_size, words.link.marked ? marked_colour : "#334155"};
            how.bold = words.link.marked;
            canvas.text(x, y + 9.5, text, how);
            y += line_height;
        }
    }

    void entry(SvgCanvas& canvas, std::size_t e) const {
        const Card& drawn = card(e);
        canvas.open(drawn.words.tip);
        if (drawn.words.tokens.empty())
            words(canvas, e);
        else
            tokens(canvas, drawn);
        canvas.close();
    }

    void words(SvgCanvas& canvas, std::size_t e) const {
        const Card& drawn = card(e);
        for (int behind = drawn.words.copies.empty() ? 0 : stack_cards; behind >= 0; --behind) {
            Box place = drawn.box;
            place.x += behind * stack_step;
            place.y -= behind * stack_step;
            draw_shape(canvas, vertex(e).kind, place);
        }
        const double middle = drawn.box.mid_x();
        const bool two = !drawn.words.subtitle.empty();
        Lettering title{title_size};
        title.bold = true;
        canvas.text(middle, drawn.box.y + (two ? 16 : 24), drawn.words.title, title);
        if (two)
            canvas.text(middle, drawn.box.y + 30, drawn.words.subtitle, {small_size, "#475569"});
        if (!drawn.words.copies.empty()) badge(canvas, drawn);
    }

    static void badge(SvgCanvas& canvas, const Card& drawn) {
        const double w = text_width(drawn.words.copies, small_size, true) + 8;
        const Box place{drawn.box.right() + stack_cards * stack_step - 8, drawn.box.y - 12, w, 16};
        canvas.rect(place, 8, {"#0f172a"});
        Lettering how{small_size, "#ffffff"};
        how.bold = true;
        canvas.text(place.mid_x(), place.y + 11.5, drawn.words.copies, how);
    }

    static void tokens(SvgCanvas& canvas, const Card& drawn) {
        const double side = drawn.box.w / static_cast<double>(drawn.words.tokens.size());
        double x = drawn.box.x;
        const KindStyle style = style_of(VertexKind::rank);
        for (const std::string& text : drawn.words.tokens) {
            canvas.rect({x + 1, drawn.box.y, side - 2, drawn.box.h}, 2,
                        {style.fill, style.stroke, 1});
            canvas.text(x + side / 2, drawn.box.y + 15, text, {small_size});
            x += side;
        }
    }

    const Tree& tree_;
    Shown shown_;
};

std::string heading_of(const Tree& tree) {
    int hosts = 0;
    for (int id = 0; id < tree.vertex_count(); ++id)
        hosts += tree.vertex(id).kind == VertexKind::host ? 1 : 0;
    std::string text = counted_ranks(tree.rank_count());
    if (hosts > 1) text += fmt::format(" on {} hosts", hosts);
    return text;
}

}  // namespace

TreePicture tree_picture(const Tree& tree, const LabelLink& label) {
    TreePicture picture;
    Shown shown = shown_of(tree, label);
    const double inner =
        std::max({shown.layout.width, text_width(heading_of(tree), 16, true), narrowest});
    const Legend legend = legend_of(tree, shown.outline, shown.folds(), inner);
    const double all = std::max(inner, legend.width);
    const double below = heading_height + shown.layout.height + 36;
    picture.width = all + 2 * margin;
    picture.height = margin + below + legend.height + margin;
    Lettering heading{16};
    heading.anchor = Anchor::start;
    heading.bold = true;
    picture.canvas.text(margin, margin + 12, heading_of(tree), heading);
    picture.canvas.open_at(margin + (all - shown.layout.width) / 2, margin + heading_height);
    PictureDrawer(tree, std::move(shown)).draw(picture.canvas);
    picture.canvas.close();
    picture.canvas.open_at(margin, margin + below);
    picture.canvas.add(legend.canvas);
    picture.canvas.close();
    return picture;
}

std::string draw_svg(const Tree& tree) {
    const TreePicture picture = tree_picture(tree);
    return picture.canvas.document(picture.width, picture.height, heading_of(tree));
}

}  // namespace gradcoll
