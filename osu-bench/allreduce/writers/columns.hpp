// writers/columns.hpp - a row as named values, the same for CSV and JSON.
#pragma once

#include "csv.hpp"
#include "options.hpp"
#include "row.hpp"

namespace gradcoll::bench {

/// Returns what was run, then what came out; always the same names in the same order.
Columns columns_of(const Options& options, const Row& row);

}  // namespace gradcoll::bench
