// mover/files/memory_drawing.cpp - memory over time as SVG; see plan_file.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "mover/analysis/memory.hpp"
#include "mover/files/plan_file.hpp"

namespace gradcoll::mover {
namespace {

constexpr double width = 900, height = 120, left = 120, gap = 30, top = 40, bottom = 30;

struct Scale {
    double ticks = 1, bytes = 1;  ///< ticks and bytes that a panel has room for
    double y = 0;                 ///< the panel's upper edge
    double x_of(Tick at) const { return left + width * static_cast<double>(at) / ticks; }
    double y_of(std::int64_t held) const {
        return y + height * (1 - static_cast<double>(held) / bytes);
    }
};

/// Returns the curve as an SVG path. Corners closer together than a pixel add nothing: each pixel
/// keeps its maximum.
std::string path_of(const Scale& scale, const std::vector<MemoryPoint>& points, Tick end) {
    std::string path = fmt::format("M{:.1f} {:.1f}", scale.x_of(0), scale.y_of(0));
    const auto out = std::back_inserter(path);
    for (std::size_t n = 0; n < points.size();) {
        const double x = scale.x_of(points[n].at);
        std::int64_t most = points[n].bytes;
        std::size_t last = n;
        for (; last + 1 < points.size() && scale.x_of(points[last + 1].at) < x + 1; ++last)
            most = std::max(most, points[last + 1].bytes);
        fmt::format_to(out, "H{:.1f}V{:.1f}", x, scale.y_of(most));
        if (points[last].bytes != most)
            fmt::format_to(out, "H{:.1f}V{:.1f}", std::min(x + 1, scale.x_of(end)),
                           scale.y_of(points[last].bytes));
        n = last + 1;
    }
    fmt::format_to(out, "H{:.1f}", scale.x_of(end));
    return path;
}

std::string bytes_of(std::int64_t bytes) {
    return gradcoll::bytes_text(static_cast<std::uint64_t>(bytes));
}

std::int64_t most_of(const std::vector<MemoryPoint>& points) {
    std::int64_t most = 1;
    for (const MemoryPoint& point : points) most = std::max(most, point.bytes);
    return most;
}

std::string panel(std::size_t r, const RankProgram& rank, const RankMoves& moves,
                  std::int64_t may_hold, Scale scale, Tick end) {
    const auto device = device_memory_over_time(rank, moves, end);
    const auto host = host_memory_over_time(rank, moves);
    const auto unmoved = device_memory_over_time(rank, {moves.starts, {}, 0}, end);
    const std::int64_t most = std::max(most_of(unmoved), most_of(host));
    scale.bytes = 1.05 * static_cast<double>(most);
    std::string text;
    const auto out = std::back_inserter(text);
    const auto line = [&](const char* kind, const std::vector<MemoryPoint>& points) {
        fmt::format_to(out, "<path class=\"{}\" d=\"{}\"/>\n", kind, path_of(scale, points, end));
    };
    fmt::format_to(out, "<text x=\"4\" y=\"{:.0f}\">rank {}</text>\n", scale.y + 14, r);
    fmt::format_to(out, "<text x=\"4\" y=\"{:.0f}\">unmoved {}</text>\n", scale.y + 30,
                   bytes_of(most_of(unmoved)));
    if (!moves.moves.empty())
        fmt::format_to(out, "<text x=\"4\" y=\"{:.0f}\">held {}</text>\n", scale.y + 46,
                       bytes_of(most_of(device)));
    fmt::format_to(out, "<path class=\"device\" d=\"{}V{:.1f}H{:.1f}Z\"/>\n",
                   path_of(scale, device, end), scale.y + height, left);
    line("unmoved", unmoved);
    if (!moves.moves.empty()) line("host", host);
    if (may_hold <= most)
        fmt::format_to(out,
                       "<path class=\"may\" d=\"M{:.1f} {:.1f}H{:.1f}\"><title>a device may hold "
                       "{}</title></path>\n<text class=\"limit\" x=\"{:.0f}\" y=\"{:.1f}\">{}"
                       "</text>\n",
                       left, scale.y_of(may_hold), left + width, bytes_of(may_hold),
                       left + width + 4, scale.y_of(may_hold) + 4, bytes_of(may_hold));
    return text;
}

/// Draws the time axis below the last panel, in quarters.
std::string time_axis(double y, Tick end) {
    std::string text;
    for (int quarter = 0; quarter <= 4; ++quarter) {
        const double x = left + width * quarter / 4;
        const double seconds = static_cast<double>(end) / ticks_per_second * quarter / 4;
        fmt::format_to(std::back_inserter(text),
                       "<path class=\"axis\" d=\"M{0:.1f} {1:.1f}v5\"/>\n<text x=\"{0:.1f}\" "
                       "y=\"{2:.1f}\" text-anchor=\"middle\">{3}</text>\n",
                       x, y, y + 18, quarter == 0 ? "0" : gradcoll::seconds_text(seconds));
    }
    return text;
}

}  // namespace

std::string drawing_of(const Program& program, const Rooms& rooms, const MovePlan& plan) {
    const Tick end = std::max<Tick>(plan.step_ticks, 1);
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<style>path{{fill:none;stroke-width:1}}.device{{fill:#9ecae1;stroke:#2171b5}}"
        ".unmoved,.axis{{stroke:#777}}.host{{stroke:#31a354}}.may{{stroke:#cb181d;stroke-dasharray:"
        "6 "
        "3}}.limit{{fill:#cb181d}}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        "<text x=\"4\" y=\"20\">Memory over the {2} of a step. Blue: in the device; grey: with "
        "nothing moved; green: in the host; red: what a device may hold</text>\n",
        left + width + 70,
        top + static_cast<double>(plan.ranks.size()) * (height + gap) - gap + bottom,
        gradcoll::seconds_text(static_cast<double>(plan.step_ticks) / ticks_per_second));
    for (std::size_t r = 0; r < plan.ranks.size(); ++r)
        text += panel(
            r, program.ranks[r], plan.ranks[r], rooms.ranks[r].device_bytes,
            {.ticks = static_cast<double>(end), .y = top + static_cast<double>(r) * (height + gap)},
            end);
    return text +
           time_axis(top + static_cast<double>(plan.ranks.size()) * (height + gap) - gap, end) +
           "</svg>\n";
}

}  // namespace gradcoll::mover
