// topology/pci_address.hpp - where a device is on the PCI buses of its host, and what its link
// carries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gradcoll {

struct PciAddress {
    std::uint32_t domain = 0;
    std::uint32_t bus = 0;       ///< below 256
    std::uint32_t device = 0;    ///< below 32
    std::uint32_t function = 0;  ///< below 8

    /// "0000:3b:00.0", as drivers write it: the domain has up to 8 digits ("00000000:3B:00.0") or
    /// is not there, letters may be capitals. Nothing if it is no such address.
    static std::optional<PciAddress> from(std::string_view text);
    /// In lower case, the domain with four digits at least: equal for equal addresses.
    std::string text() const;
    /// Tells the devices of a host apart as long as domains are below 65536.
    std::uint32_t index() const { return (domain << 16) | (bus << 8) | (device << 3) | function; }
};

/// What a PCIe link carries in each direction: `gt_per_s` such as 16, `lanes` such as 16. Up to 5
/// GT/s 8 of 10 bits are data, up to 32 GT/s 128 of 130, above that 242 of 256 (flits). 0 if there
/// is no such link.
double pcie_gbytes_per_s(double gt_per_s, int lanes);

}  // namespace gradcoll
