// topology/draw/svg.hpp - writes the few SVG elements that the drawings need. Texts are escaped;
// coordinates are in pixels with one decimal, so that equal drawings have equal bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradcoll {

struct Box {
    double x = 0;
    double y = 0;
    double w = 0;
    double h = 0;
    double right() const { return x + w; }
    double bottom() const { return y + h; }
    double mid_x() const { return x + w / 2; }
};

struct Paint {
    std::string_view fill = "none";
    std::string_view stroke = "none";
    double width = 1;
    bool dashed = false;
};

enum class Anchor { start, middle, end };
struct Lettering {
    double size = 12;
    std::string_view colour = "#0f172a";
    Anchor anchor = Anchor::middle;
    bool bold = false;
};

/// Characters that XML 1.0 cannot hold, and bytes that are no UTF-8, become '?'; markup is escaped.
std::string xml_text(std::string_view text);

/// How wide a text is at most, in pixels: for the widest of the usual sans-serif fonts.
double text_width(std::string_view text, double size, bool bold = false);

/// At most `max_chars` characters: the middle of a longer text becomes an ellipsis.
std::string shortened(std::string_view text, std::size_t max_chars);

class SvgCanvas {
  public:
    void rect(const Box& box, double radius, const Paint& paint);
    void polygon(const std::vector<std::pair<double, double>>& points, const Paint& paint);
    /// A line of straight segments.
    void path(const std::vector<std::pair<double, double>>& points, const Paint& paint);
    /// `y` is the baseline.
    void text(double x, double y, std::string_view text, const Lettering& how);
    /// Everything until close() belongs together and shows `tip` under the mouse.
    void open(std::string_view tip);
    void close();
    /// Everything until close() is moved.
    void open_at(double x, double y);

    /// Adds what another canvas holds.
    void add(const SvgCanvas& other) { body_ += other.body_; }
    /// The whole file, on white. The canvas keeps what it holds.
    std::string document(double width, double height, std::string_view title) const;

  private:
    std::string body_;
};

}  // namespace gradcoll
