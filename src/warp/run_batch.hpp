// warp/run_batch.hpp - what each warp of a launch does: finds its job and walks over its items.
#pragma once

#include "warp/batch.hpp"

namespace gradcoll {

/// Says that the job's payload is no encoding. Any number of lanes may: all write the same.
template <class Warp>
constexpr void mark_invalid(const WarpJob& job) {
    Warp::store(reinterpret_cast<std::byte*>(job.invalid), std::uint32_t{1});
}

/// WarpShare is what one warp of a launch has to do: items first, first + stride, ... of a job.
struct WarpShare {
    unsigned job;
    std::size_t first, stride;
};

constexpr WarpShare share_of(const Batch& batch, unsigned cta, unsigned warp_of_cta) {
    unsigned j = 0;
    while (cta >= batch.first_cta[j + 1]) ++j;
    const std::size_t cta_of_job = cta - batch.first_cta[j];
    const std::size_t ctas = batch.first_cta[j + 1] - batch.first_cta[j];
    return {j, cta_of_job * warps_per_cta + warp_of_cta, ctas * warps_per_cta};
}

/// Runs a warp's share. A Job offers, as templates over a Warp (src/warp/README.md), tile(job,
/// index) and loose(job, index), and the sizes of both: tile_elems, loose_elems.
template <class Warp, class Job>
constexpr void run_batch(const Batch& batch, unsigned cta, unsigned warp_of_cta) {
    const WarpShare share = share_of(batch, cta, warp_of_cta);
    const WarpJob& job = batch.job[share.job];
    for (std::size_t i = share.first; i < job.items; i += share.stride) {
        if (i < job.tiles)
            Job::template tile<Warp>(job, i);
        else
            Job::template loose<Warp>(job, i - job.tiles);
    }
}

}  // namespace gradcoll
