// compress/device_jobs.hpp - the four works of a codec that goes block by block, as jobs for warps
// (warp/run_batch.hpp).
#pragma once

#include <cstddef>

#include "compress/device_codec.hpp"
#include "warp/batch.hpp"

namespace gradcoll {

/// `Form` has encode<with_residual>(job, index) and decode<with_base>(job, index).
template <CodecWork work, class Form>
constexpr void do_work(const WarpJob& job, std::size_t index) {
    if constexpr (work == CodecWork::encode || work == CodecWork::encode_with_residual)
        Form::template encode<work == CodecWork::encode_with_residual>(job, index);
    else
        Form::template decode<work == CodecWork::decode_sum>(job, index);
}

/// The kernel that Launcher makes of Jobs::Job<work>.
template <class Launcher, class Jobs>
BatchKernel kernel_for_work(CodecWork work) {
    switch (work) {
        case CodecWork::encode:
            return Launcher::template kernel<typename Jobs::template Job<CodecWork::encode>>();
        case CodecWork::encode_with_residual:
            return Launcher::template kernel<
                typename Jobs::template Job<CodecWork::encode_with_residual>>();
        case CodecWork::decode:
            return Launcher::template kernel<typename Jobs::template Job<CodecWork::decode>>();
        case CodecWork::decode_sum:
            return Launcher::template kernel<typename Jobs::template Job<CodecWork::decode_sum>>();
    }
    return {};
}

}  // namespace gradcoll
