// compress/chain/chain_job.hpp - messages of chains as jobs for warps (warp/run_batch.hpp), a block
// an item; and the table of kernels.
#pragma once

#include "compress/chain/chain_warp_form.hpp"
#include "compress/device_jobs.hpp"

namespace gradcoll::chain {

template <class S, class W, class Format>
struct Jobs {
    template <CodecWork work>
    struct Job {
        static constexpr std::size_t tile_elems = block_elems;
        static constexpr std::size_t loose_elems = block_elems;
        /// 8-byte values of a block do not fit into 128 registers a thread, nor others with what of
        /// them is left over.
        static constexpr unsigned least_ctas =
            sizeof(typename Format::Bits) == 8 || work == CodecWork::encode_with_residual ? 1 : 2;

        template <class Warp>
        static constexpr void tile(const WarpJob& job, std::size_t index) {
            do_work<work, WarpForm<Warp, S, W, Format>>(job, index);
        }
        template <class Warp>
        static constexpr void loose(const WarpJob& job, std::size_t index) {
            do_work<work, WarpForm<Warp, S, W, Format>>(job, job.tiles + index);
        }
    };
};

/// Returns the kernel that Launcher makes of a job; no launch if the chain is not defined for the
/// type.
template <class Launcher, int keep, int bits>
BatchKernel kernel_for(ElementType type, CodecWork work) {
    using S = Shape<keep>;
    using W = quant::Width<bits>;
    return for_float_type(type, [work](auto format) {
        return kernel_for_work<Launcher, Jobs<S, W, decltype(format)>>(work);
    });
}

}  // namespace gradcoll::chain
