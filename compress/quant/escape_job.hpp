// compress/quant/escape_job.hpp - quantized messages that keep a tolerance as jobs for warps
// (warp/run_batch.hpp), a block an item; and the table of kernels.
#pragma once

#include "compress/device_jobs.hpp"
#include "compress/quant/escape_warp_form.hpp"
#include "compress/quant/quant_by_type.hpp"

namespace gradcoll::quant {

template <class W, class Format>
struct EscapeJobs {
    template <CodecWork work>
    struct Job {
        static constexpr std::size_t tile_elems = escape_block_elems;
        static constexpr std::size_t loose_elems = escape_block_elems;
        /// 8-byte values of a block do not fit into 128 registers a thread.
        static constexpr unsigned least_ctas = sizeof(typename Format::Bits) == 8 ? 1 : 2;

        template <class Warp>
        static constexpr void tile(const WarpJob& job, std::size_t index) {
            do_work<work, EscapeWarpForm<Warp, W, Format, true>>(job, index);
        }
        template <class Warp>
        static constexpr void loose(const WarpJob& job, std::size_t index) {
            do_work<work, EscapeWarpForm<Warp, W, Format, false>>(job, job.tiles + index);
        }
    };
};

/// Returns the kernel that Launcher makes of a job; no launch if the type is not quantized to that
/// width.
template <class Launcher, class W>
BatchKernel escape_kernel_for(ElementType type, CodecWork work) {
    return kernel_for_type<W>(type, [work](auto format) {
        return kernel_for_work<Launcher, EscapeJobs<W, decltype(format)>>(work);
    });
}

}  // namespace gradcoll::quant
