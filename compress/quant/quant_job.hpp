// compress/quant/quant_job.hpp - quantized messages as jobs for warps (warp/run_batch.hpp), a block
// an item; and the table of kernels.
#pragma once

#include <type_traits>

#include "compress/device_jobs.hpp"
#include "compress/quant/quant_by_type.hpp"
#include "compress/quant/quant_warp_form.hpp"

namespace gradcoll::quant {

template <CodecWork work, class W, class Format, class Rounding>
struct BlockJob {
    static constexpr std::size_t tile_elems = block_elems;
    static constexpr std::size_t loose_elems = block_elems;

    template <class Warp>
    static constexpr void tile(const WarpJob& job, std::size_t index) {
        do_work<work, WarpForm<Warp, W, Format, Rounding, true>>(job, index);
    }
    template <class Warp>
    static constexpr void loose(const WarpJob& job, std::size_t index) {
        do_work<work, WarpForm<Warp, W, Format, Rounding, false>>(job, job.tiles + index);
    }
};

/// Jobs has one decoder for both roundings.
template <class W, class Format, class Rounding>
struct Jobs {
    template <CodecWork work>
    using Job = BlockJob<work, W, Format, std::conditional_t<encodes(work), Rounding, ToNearest>>;
};

/// Returns the kernel that Launcher makes of a job; no launch if the type is not quantized to that
/// width.
template <class Launcher, class W, class Rounding = ToNearest>
BatchKernel kernel_for(ElementType type, CodecWork work) {
    return kernel_for_type<W>(type, [work](auto format) {
        return kernel_for_work<Launcher, Jobs<W, decltype(format), Rounding>>(work);
    });
}

}  // namespace gradcoll::quant
