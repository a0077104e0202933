// topology/vertex.cpp - the names of the kinds, as expressions, JSON and drawings write them; and
// the figures that links may have.
#include "topology/vertex.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/text.hpp"

namespace gradcoll {

namespace {

// The names are in the order of the enum.
constexpr std::array<std::string_view, 10> kind_names{
    "rank", "core", "cache", "numa", "package", "bridge", "gpu", "host", "switch", "group"};
static_assert(kind_names.size() == static_cast<std::size_t>(VertexKind::group) + 1);

}  // namespace

std::string_view name_of(VertexKind kind) {
    return kind_names[static_cast<std::size_t>(kind)];
}

Result<VertexKind> vertex_kind_from(std::string_view name) {
    const auto found = std::find(kind_names.begin(), kind_names.end(), name);
    if (found == kind_names.end())
        return Status(Code::invalid_argument,
                      fmt::format("\"{}\" is no vertex kind: allowed are {}", printable(name),
                                  fmt::join(kind_names, ", ")));
    return static_cast<VertexKind>(found - kind_names.begin());
}

bool is_link_figure(double value) {
    return std::isfinite(value) && !std::signbit(value);
}

Uplink in_a_row(const Uplink& a, const Uplink& b) {
    const auto [slow, fast] = std::minmax(a.bandwidth_gbytes_per_s, b.bandwidth_gbytes_per_s);
    const double latency_us =
        std::min(a.latency_us + b.latency_us, std::numeric_limits<double>::max());
    return {slow > 0 ? slow : fast, latency_us};
}

bool same_link(const Uplink& a, const Uplink& b) {
    return a.bandwidth_gbytes_per_s == b.bandwidth_gbytes_per_s && a.latency_us == b.latency_us;
}

}  // namespace gradcoll
