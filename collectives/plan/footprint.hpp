// collectives/plan/footprint.hpp - says which memory a step reads and writes, for both the builder
// (to find dependencies) and the verifier (to check them).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "collectives/plan/plan.hpp"

namespace gradcoll {

/// Areas are separate address ranges. In-place calls have no input: theirs is part of the output.
enum class Area : std::uint8_t { input, output, scratch };
inline constexpr int area_count = 3;

struct Access {
    Area area = Area::input;
    Range extent;  ///< input, output: elements of the caller's buffer; scratch: bytes
    bool write = false;
};

/// A Footprint has at most three accesses; the unused ones have an empty extent. A range that is
/// both read and written (reduction in place) appears once, as written.
using Footprint = std::array<Access, 3>;

/// A Geometry describes what a schedule's steps can refer to.
struct Geometry {
    std::int64_t input_first_elem = 0;
    std::int64_t output_first_elem = 0;
    std::uint32_t elem_bytes = 1;
    bool in_place = false;
    std::span<const SlotExtent> slots;
};
Geometry geometry_of(const Schedule& schedule, const PlanSpec& spec);

Footprint footprint_of(const Step& step, const Geometry& geometry);

}  // namespace gradcoll
