// generators.hpp - the data of the vectors that are summed. A codec's quality depends on data, so
// it must be chosen knowingly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "element.hpp"

namespace gradcoll::bench {

/// Returns whether the name is one of these: "gradient" (Laplace, with a scale of 10^-4 to 10^-1
/// for every 4096 elements that is the same on all ranks, as layers have), "normal" (0, 1),
/// "uniform" (-1, 1), "laplace" (0, 1), "t3" (Student's t, 3 degrees of freedom: heavy tails, as
/// gradients have), "constant" (1.0) or "file:PATH" (raw elements, read repeatedly). For int32 the
/// values are multiplied by 100 and rounded.
bool is_data_name(std::string_view name);
std::string data_names();
/// Returns the PATH of "file:PATH", empty for the others.
std::string data_file(std::string_view name);

/// Returns `count` elements as raw bytes; the same for one seed and rank every time, different on
/// every rank. A file is read from element rank * count on. Throws std::runtime_error naming the
/// file if it cannot be read or holds no element.
std::vector<std::byte> generate(std::string_view name, const Element& element, std::size_t count,
                                std::uint64_t seed, int rank);

}  // namespace gradcoll::bench
