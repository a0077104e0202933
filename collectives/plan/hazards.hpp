// collectives/plan/hazards.hpp - finds the steps that a new step must wait for.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "collectives/plan/footprint.hpp"

namespace gradcoll {

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
