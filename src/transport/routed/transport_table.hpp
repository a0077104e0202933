// transport/routed/transport_table.hpp - the transports that were built in.
#pragma once

#include <span>
#include <string>

#include "transport/routed/transport.hpp"

namespace gradcoll {

/// Returns the transports in the order in which they are asked: that of the table, last resorts
/// last.
std::span<const Transport* const> transport_table();

/// Returns the names of the rows, "shm, mpi"; last_resort_names() has only those of the last
/// resorts.
std::string transport_names();
std::string last_resort_names();

}  // namespace gradcoll
