// warp/device_warp.hpp - the Warp of a GPU (src/warp/README.md), and kernels that run batches on
// it. Included by .cu files only.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <type_traits>

#include "warp/batch.hpp"
#include "warp/memory.hpp"
#include "warp/run_batch.hpp"

namespace gradcoll {

struct DeviceWarp {
    static constexpr unsigned all_lanes = 0xffffffffu;

    static __device__ unsigned lane() { return threadIdx.x % warp_lanes; }

    template <class T>
    static __device__ T shuffle(T value, unsigned from) {
        return __shfl_sync(all_lanes, value, static_cast<int>(from));
    }
    static __device__ std::uint32_t ballot(bool flag) { return __ballot_sync(all_lanes, flag); }
    static __device__ unsigned ones(std::uint32_t word) {
        return static_cast<unsigned>(__popc(word));
    }

    template <class T>
    static __device__ T load(const std::byte* from) {
        if constexpr (std::is_same_v<T, Words<4>>) {
            const uint4 words = *reinterpret_cast<const uint4*>(from);
            return {{words.x, words.y, words.z, words.w}};
        } else if constexpr (std::is_same_v<T, Words<2>>) {
            const uint2 words = *reinterpret_cast<const uint2*>(from);
            return {{words.x, words.y}};
        } else if constexpr (std::is_same_v<T, Words<1>>) {
            return {{*reinterpret_cast<const std::uint32_t*>(from)}};
        } else {
            return *reinterpret_cast<const T*>(from);
        }
    }
    static __device__ void store(std::byte* to, const Words<4>& words) {
        *reinterpret_cast<uint4*>(to) =
            make_uint4(words.word[0], words.word[1], words.word[2], words.word[3]);
    }
    static __device__ void store(std::byte* to, const Words<2>& words) {
        *reinterpret_cast<uint2*>(to) = make_uint2(words.word[0], words.word[1]);
    }
    static __device__ void store(std::byte* to, const Words<1>& words) {
        *reinterpret_cast<std::uint32_t*>(to) = words.word[0];
    }
    template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
    static __device__ void store(std::byte* to, T value) {
        *reinterpret_cast<T*>(to) = value;
    }

    static __device__ float widen_f16(std::uint16_t bits) {
        return __half2float(__ushort_as_half(bits));
    }
    static __device__ std::uint16_t narrow_f16(float value) {
        return __half_as_ushort(__float2half_rn(value));
    }
};

/// This many blocks of threads share an SM's registers, which leaves 128 to a thread. Without this
/// limit ptxas spills a few to fit one more block.
inline constexpr unsigned usual_ctas = 2;

/// LeastCtas is Job::least_ctas for jobs that need more registers and say so.
template <class Job, class = void>
struct LeastCtas : std::integral_constant<unsigned, usual_ctas> {};
template <class Job>
struct LeastCtas<Job, std::void_t<decltype(Job::least_ctas)>>
    : std::integral_constant<unsigned, Job::least_ctas> {};

template <class Job>
__global__ void __launch_bounds__(warps_per_cta* warp_lanes, LeastCtas<Job>::value)
    batch_kernel(const __grid_constant__ Batch batch) {
    run_batch<DeviceWarp, Job>(batch, blockIdx.x, threadIdx.x / warp_lanes);
}

/// Launches the kernel and asks for the error of this launch alone: what the program's own calls
/// left behind stays there.
template <class Job>
const char* launch_on_device(const Batch& batch, unsigned ctas, void* stream) {
    void* parameters[] = {const_cast<Batch*>(&batch)};
    const cudaError_t error = cudaLaunchKernel(reinterpret_cast<const void*>(&batch_kernel<Job>),
                                               dim3(ctas), dim3(warps_per_cta * warp_lanes),
                                               parameters, 0, static_cast<cudaStream_t>(stream));
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

/// OnDevice gives a Job to the GPU; the tables of kernels are templates over it.
struct OnDevice {
    template <class Job>
    static BatchKernel kernel() {
        return {launch_on_device<Job>, Job::tile_elems, Job::loose_elems};
    }
};

}  // namespace gradcoll
