#include "ways/way.hpp"

namespace gradcoll {

#define GRADCOLL_ROW(name) const WayInfo& name##_way();
#include "way_table.inc"
#undef GRADCOLL_ROW

std::vector<std::unique_ptr<Way>> make_ways(const WayParts& parts) {
    std::vector<std::unique_ptr<Way>> ways;
#define GRADCOLL_ROW(name) ways.push_back(name##_way().make(parts));
#include "way_outside.inc"

// These come after them; without a line between, the two would be sorted by name.
#include "way_built_in.inc"
#undef GRADCOLL_ROW
    return ways;
}

}  // namespace gradcoll
