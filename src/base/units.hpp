// base/units.hpp - numbers as people read them, in seven columns at most.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gradcoll {

/// Returns a text such as "0", "999", "64 KiB", "1.2 MiB", "1023 GiB".
std::string bytes_text(std::uint64_t bytes);
/// Returns a text such as "0", "850 ns", "1.2 us", "12.3 ms", "9999 s", "2.8 h"; a sign stands in
/// front of negative ones.
std::string seconds_text(double seconds);
/// Returns a text such as "1 rank", "2 ranks", "0 ranks"; the number is as count_text() writes it.
std::string counted(std::uint64_t count, std::string_view thing);
/// Returns "9999999" as it is, then "10.0 M", "1.2 G".
std::string count_text(std::uint64_t count);

}  // namespace gradcoll
