// compress/packing.hpp - packing without loss, by name and figures: all that a planner needs to
// know of it. Pure; thread safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "compress/kernels.hpp"

namespace gradcoll {

/// The count includes `none`.
inline constexpr std::size_t packing_count = static_cast<std::size_t>(Packing::lz4) + 1;

/// Returns "zstd"; an empty text for `none`.
std::string_view name_of(Packing packing);
/// Returns nothing if there is no such packing. "none" is no name.
std::optional<Packing> packing_named(std::string_view name);
/// Messages show this list of what is allowed.
inline constexpr std::string_view packings_allowed = "+zstd or +lz4";

/// PackingRates are to plan with until somebody has measured. They are GB/s of one core, of bytes
/// that are not packed.
struct PackingRates {
    double pack = 0;
    double unpack = 0;
    double part = 1;  ///< what is left of usual data
};
/// Returns rates that mean nothing for `none`.
const PackingRates& rates_of(Packing packing);

}  // namespace gradcoll
