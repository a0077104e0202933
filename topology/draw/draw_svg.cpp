// topology/draw/draw_svg.cpp - draws without Graphviz: the root on top, every entry above the
// middle of what is below it, a column for each entry that has nothing below.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/text.hpp"
#include "topology/draw/draw.hpp"
#include "topology/draw/picture.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {
namespace {

constexpr double node_letter = 6.7;  // approximate width of a letter of 12 px
constexpr double node_line = 15;
constexpr double link_letter = 5.6;  // the same for 10 px
constexpr double link_line = 12;
constexpr double padding = 8;
constexpr double gap = 14;
constexpr double bend = 26;  // height from a box down to the labels of the links below it

/// Counts characters, not bytes, of a text in UTF-8.
std::size_t letters_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
    }));
}

double width_of(const std::vector<std::string>& lines, double letter) {
    std::size_t most = 0;
    for (const std::string& line : lines) most = std::max(most, letters_of(line));
    return static_cast<double>(most) * letter;
}

struct Box {
    std::vector<std::string> lines;
    SvgLink link;
    double width = 0;   ///< the box itself
    double column = 0;  ///< all that is below
    double x = 0;       ///< the middle
    double y = 0;       ///< the top
    double height = 0;
};

class SvgDrawer {
  public:
    SvgDrawer(const Tree& tree, const std::function<SvgLink(int)>& link)
        : tree_(tree), outline_(outline_for_picture(tree)), boxes_(outline_.entries.size()) {
        for (std::size_t e = 0; e < boxes_.size(); ++e) measure(e, link);
        for (std::size_t e = boxes_.size(); e-- > 0;) widen_parent(e);
        place_across(0, padding);
        place_down();
    }

    std::string draw() {
        const double width = boxes_.front().column + 2 * padding;
        put(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" )"
            R"(width="{0:.0f}" height="{1:.0f}" font-family="Helvetica, Arial, sans-serif" )"
            R"(role="img">)",
            width, bottom_ + padding);
        put("\n<title>{}</title>\n", markup_text(picture_heading(tree_)));
        for (std::size_t e = 0; e < boxes_.size(); ++e) host_behind(e);
        for (std::size_t e = 1; e < boxes_.size(); ++e) edge(e);
        for (std::size_t e = 0; e < boxes_.size(); ++e) node(e);
        return std::move(out_) + "</svg>\n";
    }

  private:
    template <class... Arguments>
    void put(fmt::format_string<Arguments...> form, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(out_), form, std::forward<Arguments>(arguments)...);
    }
    const OutlineEntry& entry(std::size_t e) const { return outline_.entries[e]; }
    std::size_t parent_of(std::size_t e) const { return static_cast<std::size_t>(entry(e).parent); }
    VertexKind kind_of(std::size_t e) const { return tree_.vertex(entry(e).vertex()).kind; }

    void measure(std::size_t e, const std::function<SvgLink(int)>& link) {
        Box& box = boxes_[e];
        box.lines = lines_of_entry(tree_, outline_, e);
        const Uplink& uplink = tree_.vertex(entry(e).vertex()).uplink;
        if (e > 0 && link)
            box.link = link(entry(e).vertex());
        else if (std::string text = link_figures_text(uplink, ", "); e > 0 && !text.empty())
            box.link.lines = {std::move(text)};
        if (box.link.width <= 0) box.link.width = link_width(uplink);
        box.width = width_of(box.lines, node_letter) + 2 * padding;
        box.height = static_cast<double>(box.lines.size()) * node_line + padding;
    }

    /// Widens the parent's column by that of entry `e`. Entries are in pre-order and visited from
    /// the last, so all below `e` has been counted.
    void widen_parent(std::size_t e) {
        Box& box = boxes_[e];
        const double own = std::max(box.width, width_of(box.link.lines, link_letter)) + gap;
        box.column = std::max(box.column, own);
        if (e > 0) boxes_[parent_of(e)].column += box.column;
    }

    void place_across(std::size_t e, double left) {
        Box& box = boxes_[e];
        box.x = left + box.column / 2;
        double below = 0;
        for (const int child : entry(e).children)
            below += boxes_[static_cast<std::size_t>(child)].column;
        left += (box.column - below) / 2;
        for (const int child : entry(e).children) {
            place_across(static_cast<std::size_t>(child), left);
            left += boxes_[static_cast<std::size_t>(child)].column;
        }
    }

    /// Sets the heights: all entries of a depth are on one line.
    void place_down() {
        std::vector<double> boxes, labels;
        for (std::size_t e = 0; e < boxes_.size(); ++e) {
            const auto depth = static_cast<std::size_t>(entry(e).depth);
            boxes.resize(std::max(boxes.size(), depth + 1));
            labels.resize(boxes.size());
            boxes[depth] = std::max(boxes[depth], boxes_[e].height);
            const auto lines = static_cast<double>(boxes_[e].link.lines.size());
            labels[depth] = std::max(labels[depth], lines * link_line);
        }
        std::vector<double> tops = {padding};
        for (std::size_t depth = 1; depth < boxes.size(); ++depth)
            tops.push_back(tops.back() + boxes[depth - 1] + bend + labels[depth] + padding);
        for (std::size_t e = 0; e < boxes_.size(); ++e)
            boxes_[e].y = tops[static_cast<std::size_t>(entry(e).depth)];
        bottom_ = tops.back() + boxes.back() + padding;
    }

    /// Draws a background behind a host and all below it.
    void host_behind(std::size_t e) {
        if (kind_of(e) != VertexKind::host || entry(e).children.empty()) return;
        const Box& box = boxes_[e];
        double low = box.y + box.height;
        for (std::size_t below = e + 1;
             below < boxes_.size() && entry(below).depth > entry(e).depth; ++below)
            low = std::max(low, boxes_[below].y + boxes_[below].height);
        put(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="6" )"
            R"(fill="#fffbeb" stroke="#fde68a"/>)",
            box.x - box.column / 2 + gap / 4, box.y - gap / 3, box.column - gap / 2,
            low - box.y + 2 * gap / 3);
        out_ += '\n';
    }

    void edge(std::size_t e) {
        const Box& box = boxes_[e];
        const Box& above = boxes_[parent_of(e)];
        const std::string_view colour = box.link.marked ? marked_colour : link_colour;
        const double label_top =
            box.y - padding / 2 - link_line * static_cast<double>(box.link.lines.size());
        put(R"(<path d="M {:.1f} {:.1f} L {:.1f} {:.1f} L {:.1f} {:.1f}" fill="none" )"
            R"(stroke="{}" stroke-width="{:.1f}"/>)",
            above.x, above.y + above.height, box.x, label_top, box.x, box.y, colour,
            box.link.width);
        out_ += '\n';
        if (box.link.lines.empty()) return;
        const double width = width_of(box.link.lines, link_letter) + 4;
        put(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="#ffffff"/>)",
            box.x - width / 2, label_top, width,
            link_line * static_cast<double>(box.link.lines.size()));
        words(box.link.lines, {box.x, label_top + 9, link_line, 10},
              box.link.marked ? marked_colour : "#334155");
        out_ += '\n';
    }

    void node(std::size_t e) {
        const Box& box = boxes_[e];
        const KindStyle style = style_of(kind_of(e));
        if (entry(e).copies() > 1)
            put(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="5" )"
                R"(fill="{}" stroke="{}"/>)",
                box.x - box.width / 2 + 3, box.y + 3, box.width, box.height, style.fill,
                style.stroke);
        put(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="5" fill="{}" )"
            R"(stroke="{}"/>)",
            box.x - box.width / 2, box.y, box.width, box.height, style.fill, style.stroke);
        words(box.lines, {box.x, box.y + 15, node_line, 12}, "#0f172a");
        out_ += '\n';
    }

    struct Place {
        double x, y, line;
        int size;
    };
    void words(const std::vector<std::string>& lines, const Place& place, std::string_view colour) {
        for (std::size_t i = 0; i < lines.size(); ++i)
            put(R"(<text x="{:.1f}" y="{:.1f}" font-size="{}" text-anchor="middle" )"
                R"(fill="{}">{}</text>)",
                place.x, place.y + static_cast<double>(i) * place.line, place.size, colour,
                markup_text(lines[i]));
    }

    const Tree& tree_;
    Outline outline_;
    std::vector<Box> boxes_;
    double bottom_ = 0;
    std::string out_;
};

}  // namespace

std::string draw_svg(const Tree& tree, const std::function<SvgLink(int vertex)>& link) {
    return SvgDrawer(tree, link).draw();
}

}  // namespace gradcoll
