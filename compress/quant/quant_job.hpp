// compress/quant/quant_job.hpp - quantized messages as jobs for warps (warp/run_batch.hpp), a block
// an item; and the table of kernels.
#pragma once

#include "compress/device_codec.hpp"
#include "compress/quant/quant_warp_form.hpp"

namespace gradcoll::quant {

template <class W, class Format, CodecWork work>
struct Job {
    static constexpr std::size_t tile_elems = block_elems;
    static constexpr std::size_t loose_elems = block_elems;

    template <class Warp>
    static constexpr void tile(const WarpJob& job, std::size_t index) {
        run<WarpForm<Warp, W, Format, true>>(job, index);
    }
    template <class Warp>
    static constexpr void loose(const WarpJob& job, std::size_t index) {
        run<WarpForm<Warp, W, Format, false>>(job, job.tiles + index);
    }

  private:
    template <class Form>
    static constexpr void run(const WarpJob& job, std::size_t block) {
        if constexpr (work == CodecWork::encode || work == CodecWork::encode_with_residual)
            Form::template encode<work == CodecWork::encode_with_residual>(job, block);
        else
            Form::template decode<work == CodecWork::decode_sum>(job, block);
    }
};

template <class Launcher, class W, class Format>
BatchKernel kernel_for_work(CodecWork work) {
    switch (work) {
        case CodecWork::encode:
            return Launcher::template kernel<Job<W, Format, CodecWork::encode>>();
        case CodecWork::encode_with_residual:
            return Launcher::template kernel<Job<W, Format, CodecWork::encode_with_residual>>();
        case CodecWork::decode:
            return Launcher::template kernel<Job<W, Format, CodecWork::decode>>();
        case CodecWork::decode_sum:
            return Launcher::template kernel<Job<W, Format, CodecWork::decode_sum>>();
    }
    return {};
}

/// The kernel that Launcher makes of a job; no launch if the type is not quantized to that width.
template <class Launcher, class W>
BatchKernel kernel_for(ElementType type, CodecWork work) {
    if (!quantizes(W::bits, type)) return {};
    if (type == ElementType::f32) return kernel_for_work<Launcher, W, Fp32>(work);
    if (type == ElementType::f64) return kernel_for_work<Launcher, W, Fp64>(work);
    if constexpr (quantizes(W::bits, ElementType::f16)) {
        if (type == ElementType::f16) return kernel_for_work<Launcher, W, Fp16>(work);
        return kernel_for_work<Launcher, W, Bf16>(work);
    }
    return {};
}

}  // namespace gradcoll::quant
