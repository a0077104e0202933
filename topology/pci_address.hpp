// topology/pci_address.hpp - the address of a device on the PCI buses of its host, and the rate of
// its link.
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

    /// Parses an address such as "0000:3b:00.0", as drivers write it: the domain has up to 8 digits
    /// ("00000000:3B:00.0") or is missing, letters may be capitals. Returns nothing for any other
    /// text.
    static std::optional<PciAddress> from(std::string_view text);
    /// Returns the address in lower case, the domain with at least four digits: equal addresses
    /// give equal texts.
    std::string text() const;
    /// Returns a number that differs between the devices of a host as long as domains are below
    /// 65536.
    std::uint32_t index() const { return (domain << 16) | (bus << 8) | (device << 3) | function; }
};

/// Returns the rate of a PCIe link in each direction, for example with a `gt_per_s` of 16 and 16
/// `lanes`. Up to 5 GT/s 8 of 10 bits are data, up to 32 GT/s 128 of 130, above that 242 of 256
/// (flits). Returns 0 for figures that no link has.
double pcie_gbytes_per_s(double gt_per_s, int lanes);

}  // namespace gradcoll
