// collectives/plan/hazards.hpp - says which memory a step reads and writes, and finds the steps
// that a new step must wait for: for the builder (to find dependencies) and the verifier (to check
// them).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

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

/// Hazards remembers for every piece of memory who wrote it last and who has read it since. A
/// reader must wait for the writer; a writer for the readers, or for the writer if nobody read.
class Hazards {
  public:
    Hazards();

    /// Returns the steps that `step` must wait for, ascending, each once; then records what `step`
    /// touches. Steps must be given in list order.
    std::vector<std::uint32_t> record(std::uint32_t step, const Footprint& footprint);

  private:
    struct Use {
        std::int64_t writer = -1;
        std::vector<std::uint32_t> readers;
    };
    using Uses = std::map<std::int64_t, Use>;  ///< begin of a piece -> its use; a piece ends where
                                               ///< the next begins

    static Uses::iterator cut(Uses& uses, std::int64_t at);
    static void collect(const Use& use, bool write, std::vector<std::uint32_t>& deps);

    std::array<Uses, area_count> areas_;
};

}  // namespace gradcoll
