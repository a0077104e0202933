// writers/columns.hpp - a row as named values, the same for CSV and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "options.hpp"
#include "row.hpp"

namespace gradcoll::bench {

using Value =
    std::variant<std::monostate, std::int64_t, double, std::string>;  ///< monostate: not measured
using Columns = std::vector<std::pair<std::string_view, Value>>;

/// What was run, then what came out; always the same names in the same order.
Columns columns_of(const Options& options, const Row& row);

}  // namespace gradcoll::bench
