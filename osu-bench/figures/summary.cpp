// summary.cpp - computes quartiles, and a table's last line.
#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradcoll::bench {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
    const double position = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

Spread spread_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return {values.front(), quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75),
            values.back()};
}

Summary summary_of(const std::vector<SizeRatio>& ratios) {
    Summary summary{.sizes = ratios.size(), .worst = ratios.front()};
    double logarithms = 0;
    for (const SizeRatio& one : ratios) {
        logarithms += std::log(one.ratio);
        summary.losses += one.ratio < loss_below;
        if (one.ratio < summary.worst.ratio) {
            summary.worst = one;
        }
    }
    summary.geometric_mean = std::exp(logarithms / static_cast<double>(ratios.size()));
    return summary;
}

std::string text_of(const Summary& summary) {
    return fmt::format("{} sizes, geometric mean {:.2f}, worst {:.2f} at {} bytes, {} below {:.2f}",
                       summary.sizes, summary.geometric_mean, summary.worst.ratio,
                       summary.worst.size_bytes, summary.losses, loss_below);
}

}  // namespace gradcoll::bench
