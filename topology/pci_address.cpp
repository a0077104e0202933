// topology/pci_address.cpp - see pci_address.hpp.
#include "topology/pci_address.hpp"

#include <fmt/format.h>

#include <charconv>

namespace gradcoll {

namespace {

/// Reads all of `text` as a number of at most `most_digits` digits, below `end`.
bool hexadecimal(std::string_view text, std::size_t most_digits, std::uint64_t end,
                 std::uint32_t& out) {
    if (text.empty() || text.size() > most_digits) return false;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
    return error == std::errc() && stop == text.data() + text.size() && out < end;
}

}  // namespace

std::optional<PciAddress> PciAddress::from(std::string_view text) {
    const std::size_t dot = text.rfind('.');
    const std::size_t colon = text.rfind(':');
    if (dot == text.npos || colon == text.npos || dot < colon) return std::nullopt;
    const std::size_t before = text.substr(0, colon).rfind(':');
    const std::size_t bus = before == text.npos ? 0 : before + 1;
    PciAddress address;
    if (before != text.npos &&
        !hexadecimal(text.substr(0, before), 8, std::uint64_t{1} << 32, address.domain))
        return std::nullopt;
    if (!hexadecimal(text.substr(bus, colon - bus), 2, 256, address.bus) ||
        !hexadecimal(text.substr(colon + 1, dot - colon - 1), 2, 32, address.device) ||
        !hexadecimal(text.substr(dot + 1), 1, 8, address.function))
        return std::nullopt;
    return address;
}

std::string PciAddress::text() const {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

double pcie_gbytes_per_s(double gt_per_s, int lanes) {
    constexpr double fastest_gt_per_s = 256;  // PCIe 8
    if (!(gt_per_s > 0) || gt_per_s > fastest_gt_per_s || lanes < 1 || lanes > 32) return 0;
    const double share = gt_per_s <= 5 ? 8.0 / 10 : gt_per_s <= 32 ? 128.0 / 130 : 242.0 / 256;
    return gt_per_s * lanes / 8 * share;
}

}  // namespace gradcoll
