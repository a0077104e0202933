// warp/run_batch.hpp - what each warp of a launch does: finds its job and walks over its items.
#pragma once

#include "warp/batch.hpp"

namespace gradcoll {

/// Says that the job's payload is no encoding. Any number of lanes may: all write the same.
template <class Warp>
constexpr void mark_invalid(const WarpJob& job) {
    Warp::store(reinterpret_cast<std::byte*>(job.invalid), std::uint32_t{1});
}

/// A Job offers, as templates over a Warp (src/warp/README.md), tile(job, index) and
/// loose(job, index), and the sizes of both: tile_elems, loose_elems.
template <class Warp, class Job>
constexpr void run_batch(const Batch& batch, unsigned cta, unsigned warp_of_cta) {
    unsigned j = 0;
    while (cta >= batch.first_cta[j + 1]) ++j;
    const WarpJob& job = batch.job[j];
    const std::size_t first = std::size_t{cta - batch.first_cta[j]} * warps_per_cta + warp_of_cta;
    const std::size_t stride =
        std::size_t{batch.first_cta[j + 1] - batch.first_cta[j]} * warps_per_cta;
    for (std::size_t i = first; i < job.items; i += stride) {
        if (i < job.tiles)
            Job::template tile<Warp>(job, i);
        else
            Job::template loose<Warp>(job, i - job.tiles);
    }
}

}  // namespace gradcoll
