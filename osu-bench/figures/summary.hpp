// summary.hpp - summarises many ratios.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gradcoll::bench {

/// A Spread has quartiles that are interpolated linearly between the sorted values.
struct Spread {
    double min = 0;
    double lower_quartile = 0;
    double median = 0;
    double upper_quartile = 0;
    double max = 0;
};
/// Requires at least one value.
Spread spread_of(std::vector<double> values);

/// A ratio below this is a loss that is more than noise.
inline constexpr double loss_below = 0.95;

struct SizeRatio {
    std::size_t size_bytes = 0;
    double ratio = 0;
};
struct Summary {
    std::size_t sizes = 0;
    double geometric_mean = 0;
    SizeRatio worst;
    std::size_t losses = 0;  ///< sizes whose ratio is below loss_below
};
/// Requires at least one ratio, and all above 0.
Summary summary_of(const std::vector<SizeRatio>& ratios);
std::string text_of(const Summary& summary);

}  // namespace gradcoll::bench
