// transport/routed/transport_table.hpp - the transports that were built in.
#pragma once

#include <span>
#include <string>

#include "transport/routed/transport.hpp"

namespace gradcoll {

/// In the order in which they are asked: that of the table, last resorts last.
std::span<const Transport* const> transport_table();

/// "shm, mpi": the names of the rows, or of the last resorts among them.
std::string transport_names();
std::string last_resort_names();

}  // namespace gradcoll
