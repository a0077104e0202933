// topology/sources/host/pcie_speed.hpp - how fast a link of PCIe is, from what drivers and files
// say.
#pragma once

namespace gradcoll {

/// What a PCIe link carries in each direction: `gt_per_s` such as 16, `lanes` such as 16. Up to 5
/// GT/s 8 of 10 bits are data, up to 32 GT/s 128 of 130, above that 242 of 256 (flits). 0 if there
/// is no such link.
double pcie_gbytes_per_s(double gt_per_s, int lanes);

}  // namespace gradcoll
