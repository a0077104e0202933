#include "ways/way.hpp"

namespace gradcoll {

void WayOffers::add(const WayInfo& way, WayOffer offer) {
    if ((offer.exact || offer.lossy) && count_ < made_.size()) made_[count_++] = {&way, offer};
}

void WayOffers::drop(const WayInfo& way) {
    for (Made& made : made_)
        if (made.way == &way) made.offer = {};
}

const WayInfo* WayOffers::first(bool lossy) const {
    for (const Made& made : made_)
        if (lossy ? made.offer.lossy : made.offer.exact) return made.way;
    return nullptr;
}

WayOffer WayOffers::of(const WayInfo& way) const {
    for (const Made& made : made_)
        if (made.way == &way) return made.offer;
    return {};
}

}  // namespace gradcoll
