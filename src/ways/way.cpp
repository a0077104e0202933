#include "ways/way.hpp"

#include <bit>

namespace gradcoll {

void WayOffers::add(const WayInfo& way, WayOffer offer) {
    if (!(offer.exact || offer.lossy) || count_ == ways_.size()) return;
    const auto bit = static_cast<std::uint8_t>(1U << count_);
    if (offer.exact) exact_ |= bit;
    if (offer.lossy) lossy_ |= bit;
    ways_[count_++] = &way;
}

/// Returns -1 if the way offers nothing.
int WayOffers::place_of(const WayInfo& way) const {
    for (int i = 0; i < count_; ++i)
        if (ways_[static_cast<std::size_t>(i)] == &way) return i;
    return -1;
}

void WayOffers::drop(const WayInfo& way) {
    const int place = place_of(way);
    if (place < 0) return;
    const auto others = static_cast<std::uint8_t>(~(1U << place));
    exact_ &= others;
    lossy_ &= others;
}

const WayInfo* WayOffers::first(bool lossy) const {
    const unsigned bits = lossy ? lossy_ : exact_;
    return bits == 0 ? nullptr : ways_[static_cast<std::size_t>(std::countr_zero(bits))];
}

WayOffer WayOffers::of(const WayInfo& way) const {
    const int place = place_of(way);
    if (place < 0) return {};
    return {(exact_ >> place & 1) != 0, (lossy_ >> place & 1) != 0};
}

}  // namespace gradcoll
