// topology/fabric/infiniband.hpp - recorded InfiniBand fabrics.
#pragma once

#include <string_view>

#include "base/status.hpp"
#include "topology/fabric/fabric.hpp"

namespace gradcoll {

/// Output of `ibnetdiscover`. A host is told by the first word of its adapters' description;
/// adapters without one (aggregation nodes, vendor names alone) are no hosts. Speeds are data
/// rates: 4xQDR is 4 GB/s, 4xNDR 50 GB/s. Errors: invalid_argument with the line.
Result<Fabric> fabric_from_ibnetdiscover(std::string_view text);

/// netloc's ib-subnet-*.txt, one line a port. Errors: as above.
Result<Fabric> fabric_from_ib_subnet(std::string_view text);

}  // namespace gradcoll
