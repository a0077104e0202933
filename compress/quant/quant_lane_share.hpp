// compress/quant/quant_lane_share.hpp - the neighbouring elements of a block that one lane has.
#pragma once

#include "warp/batch.hpp"
#include "warp/memory.hpp"

namespace gradcoll::quant {

/// LaneShare has all `own` elements in a whole block. If `aligned`, arrays are aligned to 16 bytes,
/// and the block is whole.
template <class Warp, std::size_t block_elems, bool aligned>
struct LaneShare {
    static constexpr int own = static_cast<int>(block_elems / warp_lanes);

    std::size_t first;
    int present;

    static constexpr LaneShare of(std::size_t block, std::size_t count) {
        const std::size_t first = block * block_elems + std::size_t{Warp::lane()} * own;
        if (aligned || first + own <= count) return {first, own};
        return {first, first < count ? static_cast<int>(count - first) : 0};
    }

    template <class T>
    constexpr Run<T, own> load(const std::byte* array) const {
        if constexpr (aligned) {
            return load_elements<Warp, T, own>(array, first);
        } else {
            Run<T, own> run{};
#pragma unroll
            for (int i = 0; i < own; ++i)
                if (i < present)
                    run.at[i] = Warp::template load<T>(array + (first + i) * sizeof(T));
            return run;
        }
    }
    template <class T>
    constexpr void store(std::byte* array, const Run<T, own>& run) const {
        if constexpr (aligned) {
            store_elements<Warp>(array, first, run);
        } else {
#pragma unroll
            for (int i = 0; i < own; ++i)
                if (i < present) Warp::store(array + (first + i) * sizeof(T), run.at[i]);
        }
    }
};

}  // namespace gradcoll::quant
