// topology/uplink.hpp - what may be said about a link, and what two links in a row amount to.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "topology/tree.hpp"

namespace gradcoll {

/// A figure of a link: finite, and not even minus zero, so that equal links have equal bytes.
inline bool is_link_figure(double value) {
    return std::isfinite(value) && !std::signbit(value);
}

/// The slower bandwidth (of those known) and the summed latency.
inline Uplink in_a_row(const Uplink& a, const Uplink& b) {
    const auto [slow, fast] = std::minmax(a.bandwidth_gbytes_per_s, b.bandwidth_gbytes_per_s);
    const double latency_us =
        std::min(a.latency_us + b.latency_us, std::numeric_limits<double>::max());
    return {slow > 0 ? slow : fast, latency_us};
}

inline bool same_link(const Uplink& a, const Uplink& b) {
    return a.bandwidth_gbytes_per_s == b.bandwidth_gbytes_per_s && a.latency_us == b.latency_us;
}

}  // namespace gradcoll
