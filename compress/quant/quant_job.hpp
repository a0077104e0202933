// compress/quant/quant_job.hpp - quantized messages as jobs for warps (warp/run_batch.hpp), a block
// an item; and the table of kernels.
#pragma once

#include "compress/device_jobs.hpp"
#include "compress/quant/quant_warp_form.hpp"

namespace gradcoll::quant {

template <class W, class Format>
struct Jobs {
    template <CodecWork work>
    struct Job {
        static constexpr std::size_t tile_elems = block_elems;
        static constexpr std::size_t loose_elems = block_elems;

        template <class Warp>
        static constexpr void tile(const WarpJob& job, std::size_t index) {
            do_work<work, WarpForm<Warp, W, Format, true>>(job, index);
        }
        template <class Warp>
        static constexpr void loose(const WarpJob& job, std::size_t index) {
            do_work<work, WarpForm<Warp, W, Format, false>>(job, job.tiles + index);
        }
    };
};

/// The kernel that Launcher makes of a job; no launch if the type is not quantized to that width.
template <class Launcher, class W>
BatchKernel kernel_for(ElementType type, CodecWork work) {
    if (!quantizes(W::bits, type)) return {};
    if (type == ElementType::f32) return kernel_for_work<Launcher, Jobs<W, Fp32>>(work);
    if (type == ElementType::f64) return kernel_for_work<Launcher, Jobs<W, Fp64>>(work);
    if constexpr (quantizes(W::bits, ElementType::f16)) {
        if (type == ElementType::f16) return kernel_for_work<Launcher, Jobs<W, Fp16>>(work);
        return kernel_for_work<Launcher, Jobs<W, Bf16>>(work);
    }
    return {};
}

}  // namespace gradcoll::quant
