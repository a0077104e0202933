// warp/lanes.hpp - what the lanes of a warp find out together (src/warp/README.md). All of them
// call it, and all get the same answer but where it says otherwise.
#pragma once

#include "warp/batch.hpp"

namespace gradcoll {

template <class Warp>
constexpr std::uint32_t sum_of_lanes(std::uint32_t mine) {
#pragma unroll
    for (unsigned x = 1; x < warp_lanes; x *= 2) mine += Warp::shuffle(mine, Warp::lane() ^ x);
    return mine;
}

/// LaneSums has the sum of all lanes, and that of those before this one.
struct LaneSums {
    std::uint32_t all, before;
};
template <class Warp>
constexpr LaneSums sums_of_lanes(std::uint32_t mine) {
    const unsigned lane = Warp::lane();
    std::uint32_t up_to_this = mine;
#pragma unroll
    for (unsigned d = 1; d < warp_lanes; d *= 2) {
        const std::uint32_t other = Warp::shuffle(up_to_this, lane - d);
        if (lane >= d) up_to_this += other;
    }
    return {Warp::shuffle(up_to_this, warp_lanes - 1), up_to_this - mine};
}

/// Returns the first lane of a ballot that is not 0.
template <class Warp>
constexpr unsigned first_lane_of(std::uint32_t ballot) {
    return Warp::ones((ballot & (~ballot + 1u)) - 1u);
}

}  // namespace gradcoll
