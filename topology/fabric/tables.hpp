// topology/fabric/tables.hpp - plain tables: hosts and switches as CSV, MPICH's coordinates.
#pragma once

#include <string_view>

#include "base/status.hpp"
#include "topology/fabric/fabric.hpp"

namespace gradcoll {

/// host,switch[,gbytes_per_s[,latency_us]] a line; a line whose first column is a switch
/// (`switch:NAME`, or a name that stands in the second column elsewhere) hangs that switch below
/// another. A heading line (host,switch,...), `#` comments and empty lines are skipped; host
/// columns may be host lists. Rooted. Errors: invalid_argument with the line.
Result<Fabric> fabric_from_csv(std::string_view text);

/// MPICH's MPIR_CVAR_COORDINATES_FILE: the first line is skipped, then `rank: group switch port`.
/// Switches are numbered within their group. The fabric is rooted and by_rank. Errors:
/// invalid_argument with the line.
Result<Fabric> fabric_from_mpich_coordinates(std::string_view text);

}  // namespace gradcoll
