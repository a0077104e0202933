// compress/nm/nm_job.hpp - N:M messages as jobs for warps (warp/run_batch.hpp): whole blocks of
// aligned memory by the vector form, all else by the warp form; and the table of kernels.
#pragma once

#include "compress/device_jobs.hpp"
#include "compress/nm/nm_vector_form.hpp"
#include "compress/nm/nm_warp_form.hpp"

namespace gradcoll::nm {

template <class S, class Format>
struct Jobs {
    template <CodecWork work>
    struct Job {
        static constexpr std::size_t tile_elems = block_elems;
        static constexpr std::size_t loose_elems = window_elems;

        template <class Warp>
        static constexpr void tile(const WarpJob& job, std::size_t index) {
            do_work<work, VectorForm<Warp, S, Format>>(job, index);
        }
        template <class Warp>
        static constexpr void loose(const WarpJob& job, std::size_t index) {
            do_work<work, WarpForm<Warp, S, Format>>(job, job.tiles * block_words + index);
        }
    };
};

/// Returns the kernel that Launcher makes of a job; no launch if N:M is not defined for the type.
template <class Launcher, class S>
BatchKernel kernel_for(ElementType type, CodecWork work) {
    return for_float_type(type, [work](auto format) {
        return kernel_for_work<Launcher, Jobs<S, decltype(format)>>(work);
    });
}

}  // namespace gradcoll::nm
