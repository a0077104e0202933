// osu-bench/kernels/kernel_runs.hpp - times one codec kernel and memcpy, on the same data in the
// same run.
#pragma once

#include <cstddef>
#include <string_view>

#include "compress/codec.hpp"

namespace gradcoll::bench {

enum class Kernel { encode, encode_with_residual, decode, decode_sum };
inline constexpr Kernel all_kernels[] = {Kernel::encode, Kernel::encode_with_residual,
                                         Kernel::decode, Kernel::decode_sum};
std::string_view name_of(Kernel kernel);

/// Rates are medians over the repetitions, in GB/s (10^9 bytes) of plain elements, whatever the
/// codec's own bytes are.
struct Rates {
    double kernel_gb_s = 0;
    double memcpy_gb_s = 0;
    double kernel_s = 0;  ///< median time of one call
    double ratio() const { return kernel_gb_s / memcpy_gb_s; }
};

/// Runs kernel and memcpy in turns, `repetitions` times each; small inputs several calls at a time.
/// The input is normal deviates; a call of the kernel takes all of them, or `call_elems` if that is
/// not 0.
Rates measure(const Codec& codec, Kernel kernel, std::size_t plain_bytes, int repetitions,
              std::size_t call_elems);

}  // namespace gradcoll::bench
