// topology/draw/svg.cpp - see svg.hpp.
#include "topology/draw/svg.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace gradcoll {

namespace {

/// Length of the UTF-8 character at the front of `text`, 0 if there is none that XML takes.
std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
    std::uint32_t code = lead & (0x7fU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3fU);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    const bool allowed = code >= least[size] && code <= 0x10ffff && !surrogate && code >= 0xa0 &&
                         code != 0xfffe && code != 0xffff;
    return allowed ? size : 0;
}

/// Calls take(character) for each; "?" stands for what is none.
template <class Take>
void each_character(std::string_view text, Take take) {
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        take(bytes > 0 ? text.substr(0, bytes) : std::string_view("?"));
        text.remove_prefix(bytes > 0 ? bytes : 1);
    }
}

std::string attributes_of(const Paint& paint) {
    std::string text = fmt::format("fill=\"{}\"", paint.fill);
    if (paint.stroke != "none")
        text += fmt::format(" stroke=\"{}\" stroke-width=\"{:.1f}\"", paint.stroke, paint.width);
    if (paint.dashed) text += " stroke-dasharray=\"4 3\"";
    return text;
}

std::string points_text(const std::vector<std::pair<double, double>>& points) {
    std::string text;
    for (const auto& [x, y] : points)
        text += fmt::format("{}{:.1f},{:.1f}", text.empty() ? "" : " ", x, y);
    return text;
}

}  // namespace

std::string xml_text(std::string_view text) {
    std::string out;
    each_character(text, [&](std::string_view c) {
        if (c == "&")
            out += "&amp;";
        else if (c == "<")
            out += "&lt;";
        else if (c == ">")
            out += "&gt;";
        else if (c == "\"")
            out += "&quot;";
        else
            out += c;
    });
    return out;
}

double text_width(std::string_view text, double size, bool bold) {
    double ems = 0;
    each_character(text, [&](std::string_view c) {
        constexpr std::string_view narrow = " .,:;|!'ijlIft()[]-/";
        constexpr std::string_view wide = "mwMW@%";
        if (c.size() > 1)
            ems += c.size() > 2 ? 1.0 : 0.72;
        else if (narrow.find(c.front()) != narrow.npos)
            ems += 0.4;
        else
            ems += wide.find(c.front()) != wide.npos ? 0.98 : 0.65;
    });
    return ems * size * (bold ? 1.08 : 1.0);
}

std::string shortened(std::string_view text, std::size_t max_chars) {
    std::vector<std::string_view> characters;
    each_character(text, [&](std::string_view c) { characters.push_back(c); });
    std::string out;
    const bool fits = characters.size() <= max_chars;
    const std::size_t head = fits ? characters.size() : max_chars / 2;
    const std::size_t tail = fits ? 0 : max_chars - 1 - head;
    for (std::size_t i = 0; i < head; ++i) out += characters[i];
    if (!fits) out += "\u2026";
    for (std::size_t i = characters.size() - tail; i < characters.size(); ++i) out += characters[i];
    return out;
}

void SvgCanvas::rect(const Box& box, double radius, const Paint& paint) {
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\" {}/>\n",
        box.x, box.y, box.w, box.h, radius, attributes_of(paint));
}

void SvgCanvas::polygon(const std::vector<std::pair<double, double>>& points, const Paint& paint) {
    body_ += fmt::format("<polygon points=\"{}\" stroke-linejoin=\"round\" {}/>\n",
                         points_text(points), attributes_of(paint));
}

void SvgCanvas::path(const std::vector<std::pair<double, double>>& points, const Paint& paint) {
    body_ += fmt::format("<polyline points=\"{}\" stroke-linejoin=\"round\" {}/>\n",
                         points_text(points), attributes_of(paint));
}

void SvgCanvas::text(double x, double y, std::string_view text, const Lettering& how) {
    constexpr std::string_view anchors[] = {"start", "middle", "end"};
    std::string style;
    if (how.bold) style += " font-weight=\"bold\"";
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\" text-anchor=\"{}\" "
        "fill=\"{}\"{}>{}</text>\n",
        x, y, how.size, anchors[static_cast<std::size_t>(how.anchor)], how.colour, style,
        xml_text(text));
}

void SvgCanvas::open(std::string_view tip) {
    body_ += fmt::format("<g><title>{}</title>\n", xml_text(tip));
}

void SvgCanvas::open_at(double x, double y) {
    body_ += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n", x, y);
}

void SvgCanvas::close() {
    body_ += "</g>\n";
}

std::string SvgCanvas::document(double width, double height, std::string_view title) const {
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 "
        "{0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n"
        "<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{3}</svg>\n",
        width, height, xml_text(title), body_);
}

}  // namespace gradcoll
