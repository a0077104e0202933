#include "base/units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace gradcoll {
namespace {

/// Returns three significant digits at least, no more than one after the point: 1.2, 12.3, 123.
std::string short_number(double value) {
    return std::abs(value) < 99.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
    constexpr const char* units[] = {"", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    if (bytes < 1024) return fmt::format("{}", bytes);
    auto value = static_cast<double>(bytes);
    int unit = 0;
    while (value >= 1023.5 && unit < 6) {
        value /= 1024;
        ++unit;
    }
    const bool whole = value == std::floor(value);
    return (whole ? fmt::format("{:.0f}", value) : short_number(value)) + units[unit];
}

std::string seconds_text(double seconds) {
    constexpr std::pair<double, const char*> units[] = {{1e-6, " us"}, {1e-3, " ms"}, {1, " s"}};
    const double size = std::abs(seconds);
    if (size < 0.5e-9) return "0";
    if (size < 999.5e-9) return fmt::format("{:.0f} ns", seconds * 1e9);
    for (const auto& [unit, name] : units)
        if (size < 999.5 * unit) return short_number(seconds / unit) + name;
    if (size < 9999.5) return fmt::format("{:.0f} s", seconds);
    return short_number(seconds / 3600) + " h";
}

std::string counted(std::uint64_t count, std::string_view thing) {
    return fmt::format("{} {}{}", count_text(count), thing, count == 1 ? "" : "s");
}

std::string count_text(std::uint64_t count) {
    constexpr std::pair<double, const char*> units[] = {{1e6, " M"}, {1e9, " G"}, {1e12, " T"}};
    if (count < 10'000'000) return fmt::format("{}", count);
    for (const auto& [unit, name] : units)
        if (static_cast<double>(count) < 999.5 * unit)
            return short_number(static_cast<double>(count) / unit) + name;
    return short_number(static_cast<double>(count) / 1e15) + " P";
}

}  // namespace gradcoll
