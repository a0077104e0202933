// topology/sources/host/pcie_speed.cpp - see pcie_speed.hpp.
#include "topology/sources/host/pcie_speed.hpp"

namespace gradcoll {

double pcie_gbytes_per_s(double gt_per_s, int lanes) {
    constexpr double fastest_gt_per_s = 256;  // PCIe 8
    if (!(gt_per_s > 0) || gt_per_s > fastest_gt_per_s || lanes < 1 || lanes > 32) return 0;
    const double share = gt_per_s <= 5 ? 8.0 / 10 : gt_per_s <= 32 ? 128.0 / 130 : 242.0 / 256;
    return gt_per_s * lanes / 8 * share;
}

}  // namespace gradcoll
