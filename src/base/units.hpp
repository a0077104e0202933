// base/units.hpp - numbers as people read them, in seven columns at most.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gradcoll {

/// "0", "999", "64 KiB", "1.2 MiB", "1023 GiB".
std::string bytes_text(std::uint64_t bytes);
/// "0", "850 ns", "1.2 us", "12.3 ms", "9999 s", "2.8 h"; a sign in front of negative ones.
std::string seconds_text(double seconds);
/// "1 rank", "2 ranks", "0 ranks"; the number as count_text() writes it.
std::string counted(std::uint64_t count, std::string_view thing);
/// "9999999", then "10.0 M", "1.2 G".
std::string count_text(std::uint64_t count);

}  // namespace gradcoll
