// compress/nm/nm_cuda.cu - N:M on a GPU: a warp does a window of 32 elements, one element a lane
// (SPEC S0).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "compress/lanes/float_types.hpp"
#include "compress/nm/nm_cuda.hpp"
#include "compress/nm/nm_lanes.hpp"
#include "compress/nm/nm_layout.hpp"

namespace gradcoll {
namespace {

constexpr unsigned whole_warp = 0xffffffffu;
constexpr unsigned threads_per_block = 256;
constexpr unsigned warps_per_block = threads_per_block / nm::window_elems;
constexpr std::size_t most_blocks = 1u << 16;  // each warp strides over the windows that are left

__device__ inline unsigned lane_index() {
    return threadIdx.x % nm::window_elems;
}

/// The machine of nm_lanes.hpp: every lane runs the same code on its own key.
template <class Key>
struct Warp {
    using Keys = Key;
    using Flags = bool;

    template <int x>
    static __device__ Keys exchange(Keys key) {
        return __shfl_xor_sync(whole_warp, key, x);
    }
    template <int M, int r>
    static __device__ Keys ahead(Keys key) {
        const unsigned lane = lane_index(), place = lane % M;
        return __shfl_sync(whole_warp, key, static_cast<int>(lane - place + (place + r) % M));
    }
    template <int M, int below>
    static __device__ Keys less_one_below(Keys key) {
        return key - (lane_index() % M < below ? 1 : 0);
    }
    static __device__ Keys max(Keys a, Keys b) { return a > b ? a : b; }
    static __device__ Flags equal(Keys a, Keys b) { return a == b; }
    static __device__ Flags greater(Keys a, Keys b) { return a > b; }
    static __device__ std::uint32_t ballot(Flags flag) { return __ballot_sync(whole_warp, flag); }
};

__device__ inline unsigned ones(std::uint32_t word) {
    return static_cast<unsigned>(__popc(word));
}

template <class Bits>
struct KeyOf {  // shuffles move 32 or 64 bits
    using type = int;
};
template <>
struct KeyOf<std::uint64_t> {
    using type = long long;
};

__device__ inline std::uint16_t add_bits(Fp16, std::uint16_t a, std::uint16_t b) {
    const float sum = __half2float(__ushort_as_half(a)) + __half2float(__ushort_as_half(b));
    return __half_as_ushort(__float2half_rn(sum));
}
__device__ inline std::uint16_t add_bits(Bf16, std::uint16_t a, std::uint16_t b) {
    const float sum =
        __bfloat162float(__ushort_as_bfloat16(a)) + __bfloat162float(__ushort_as_bfloat16(b));
    return __bfloat16_as_ushort(__float2bfloat16_rn(sum));
}
__device__ inline std::uint32_t add_bits(Fp32, std::uint32_t a, std::uint32_t b) {
    return __float_as_uint(__fadd_rn(__uint_as_float(a), __uint_as_float(b)));
}
__device__ inline std::uint64_t add_bits(Fp64, std::uint64_t a, std::uint64_t b) {
    const double sum = __dadd_rn(__longlong_as_double(static_cast<long long>(a)),
                                 __longlong_as_double(static_cast<long long>(b)));
    return static_cast<std::uint64_t>(__double_as_longlong(sum));
}

/// Encoded values behind a tail's mask may lie at any multiple of two bytes: those go by halves.
template <class Bits>
__device__ inline bool is_aligned(const std::byte* at) {
    return reinterpret_cast<std::uintptr_t>(at) % sizeof(Bits) == 0;
}
template <class Bits>
__device__ inline void store(std::byte* to, Bits value) {
    if (is_aligned<Bits>(to)) {
        *reinterpret_cast<Bits*>(to) = value;
        return;
    }
    for (std::size_t h = 0; h < sizeof(Bits) / 2; ++h)
        reinterpret_cast<std::uint16_t*>(to)[h] = static_cast<std::uint16_t>(value >> (16 * h));
}
template <class Bits>
__device__ inline Bits load(const std::byte* from) {
    if (is_aligned<Bits>(from)) return *reinterpret_cast<const Bits*>(from);
    Bits value = 0;
    for (std::size_t h = 0; h < sizeof(Bits) / 2; ++h)
        value |= static_cast<Bits>(
            static_cast<Bits>(reinterpret_cast<const std::uint16_t*>(from)[h]) << (16 * h));
    return value;
}

/// Where the mask word and the kept values of window `index` of a message lie.
struct WindowPlace {
    std::size_t mask_at, kept_at;  // bytes
    unsigned grouped;              // lanes that belong to whole groups
    unsigned present;              // lanes that hold an element
    std::size_t first_left_over;   // bytes: where the first lane behind the groups goes
};

template <class S, class Bits>
__device__ inline WindowPlace place_of(std::size_t index, std::size_t count) {
    const std::size_t block = index / nm::block_words, in_block = index % nm::block_words;
    const std::size_t start = block * nm::block_bytes<S>(sizeof(Bits));
    const std::size_t left = count - block * nm::block_elems;
    const std::size_t elems = left < nm::block_elems ? left : nm::block_elems;
    const nm::Tail tail = nm::Tail::of<S>(elems);
    const std::size_t grouped = elems - tail.rest, before = in_block * nm::window_elems;
    const std::size_t values_at = start + tail.mask_words * sizeof(std::uint32_t);

    WindowPlace place;
    place.mask_at = start + in_block * sizeof(std::uint32_t);
    place.kept_at = values_at + in_block * S::window_kept * sizeof(Bits);
    place.present = static_cast<unsigned>(elems - before < nm::window_elems ? elems - before
                                                                            : nm::window_elems);
    place.grouped = grouped <= before                     ? 0
                    : grouped - before < nm::window_elems ? static_cast<unsigned>(grouped - before)
                                                          : static_cast<unsigned>(nm::window_elems);
    place.first_left_over = values_at + tail.kept * sizeof(Bits);
    return place;
}

__device__ inline std::uint32_t lowest_bits(unsigned count) {
    return count >= 32 ? 0xffffffffu : (1u << count) - 1u;
}

__device__ inline std::size_t warp_index() {
    return (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / nm::window_elems;
}
__device__ inline std::size_t warps_in_grid() {
    return static_cast<std::size_t>(gridDim.x) * warps_per_block;
}

template <class S, class Format>
__global__ void encode_kernel(const typename Format::Bits* in, std::size_t count, std::byte* out) {
    using Bits = typename Format::Bits;
    using Key = typename KeyOf<Bits>::type;
    constexpr Bits all_but_sign = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
    const std::size_t windows = (count + nm::window_elems - 1) / nm::window_elems;
    const unsigned lane = lane_index();
    for (std::size_t w = warp_index(); w < windows; w += warps_in_grid()) {
        const WindowPlace place = place_of<S, Bits>(w, count);
        const Bits value = lane < place.present ? in[w * nm::window_elems + lane] : Bits{0};
        const Key key = static_cast<Key>(value & all_but_sign);
        const std::uint32_t word = nm::kept_word<Warp<Key>, S>(key) & lowest_bits(place.grouped);
        if (lane == 0 && place.grouped > 0) store(out + place.mask_at, word);
        if (nm::keeps(word, lane))
            store(out + place.kept_at + ones(nm::kept_before(word, lane)) * sizeof(Bits), value);
        else if (lane >= place.grouped && lane < place.present)
            store(out + place.first_left_over + (lane - place.grouped) * sizeof(Bits), value);
    }
}

/// A legal word's groups that the window has not are filled up before the check.
template <class S>
__device__ inline bool is_legal(std::uint32_t word, unsigned grouped) {
    const std::uint32_t used = lowest_bits(grouped);
    return (word & ~used) == 0 && S::is_legal(word | (S::first_kept & ~used));
}

template <class S, class Format>
__global__ void decode_sum_kernel(const std::byte* in, std::size_t count,
                                  const typename Format::Bits* base, typename Format::Bits* out,
                                  std::uint32_t* invalid) {
    using Bits = typename Format::Bits;
    const std::size_t windows = (count + nm::window_elems - 1) / nm::window_elems;
    const unsigned lane = lane_index();
    for (std::size_t w = warp_index(); w < windows; w += warps_in_grid()) {
        const WindowPlace place = place_of<S, Bits>(w, count);
        const std::uint32_t word = place.grouped > 0 ? load<std::uint32_t>(in + place.mask_at) : 0u;
        if (!is_legal<S>(word, place.grouped)) {
            if (lane == 0) *invalid = 1;  // every writer writes the same
            continue;                     // the word is the same in all lanes
        }
        if (lane >= place.present) continue;
        Bits value = 0;
        if (nm::keeps(word, lane))
            value =
                load<Bits>(in + place.kept_at + ones(nm::kept_before(word, lane)) * sizeof(Bits));
        else if (lane >= place.grouped)
            value = load<Bits>(in + place.first_left_over + (lane - place.grouped) * sizeof(Bits));
        const std::size_t at = w * nm::window_elems + lane;
        out[at] = add_bits(Format{}, base[at], value);
    }
}

/// Calls job(Shape, Format) for the codec and the type; false if there is none.
template <class S, class Job>
bool with_format(ElementType type, const Job& job) {
    switch (type) {
        case ElementType::f16:
            job(S{}, Fp16{});
            return true;
        case ElementType::bf16:
            job(S{}, Bf16{});
            return true;
        case ElementType::f32:
            job(S{}, Fp32{});
            return true;
        case ElementType::f64:
            job(S{}, Fp64{});
            return true;
        default:
            return false;
    }
}
template <class Job>
bool with_shape(const NmCudaCall& call, const Job& job) {
    switch (call.codec) {
        case CodecId::nm_1_4:
            return with_format<nm::Shape<1, 4>>(call.type, job);
        case CodecId::nm_2_4:
            return with_format<nm::Shape<2, 4>>(call.type, job);
        case CodecId::nm_1_8:
            return with_format<nm::Shape<1, 8>>(call.type, job);
        case CodecId::nm_2_8:
            return with_format<nm::Shape<2, 8>>(call.type, job);
        case CodecId::nm_4_8:
            return with_format<nm::Shape<4, 8>>(call.type, job);
        case CodecId::nm_1_16:
            return with_format<nm::Shape<1, 16>>(call.type, job);
        default:
            return false;
    }
}

unsigned blocks_for(std::size_t count) {
    const std::size_t windows = (count + nm::window_elems - 1) / nm::window_elems;
    return static_cast<unsigned>(
        std::min((windows + warps_per_block - 1) / warps_per_block, most_blocks));
}

Status check_aligned(const char* name, const void* pointer, ElementType type) {
    const std::size_t need = element_bytes(type);
    if (need == 0 || reinterpret_cast<std::uintptr_t>(pointer) % need == 0) return {};
    return {Code::invalid_buffer,
            std::string(name) + " must be aligned to " + std::to_string(need) + " bytes"};
}

Status result_of_launch(bool defined) {
    if (!defined)
        return {Code::unsupported, "N:M on the GPU: not defined for this codec and element type"};
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return {};
    return {Code::transport, std::string("N:M on the GPU: ") + cudaGetErrorString(error)};
}

}  // namespace

bool nm_cuda_built() {
    return true;
}

Status nm_encode_cuda(const NmCudaCall& call, const void* in_dev, std::byte* out_dev) {
    if (call.count_elems == 0) return {};
    GRADCOLL_TRY(check_aligned("in_dev", in_dev, call.type));
    GRADCOLL_TRY(check_aligned("out_dev", out_dev, call.type));
    const auto stream = static_cast<cudaStream_t>(call.stream);
    return result_of_launch(with_shape(call, [&](auto shape, auto format) {
        using Format = decltype(format);
        encode_kernel<decltype(shape), Format>
            <<<blocks_for(call.count_elems), threads_per_block, 0, stream>>>(
                static_cast<const typename Format::Bits*>(in_dev), call.count_elems, out_dev);
    }));
}

Status nm_decode_sum_cuda(const NmCudaCall& call, const std::byte* in_dev, const void* base_dev,
                          void* out_dev, std::uint32_t* invalid_dev) {
    if (call.count_elems == 0) return {};
    GRADCOLL_TRY(check_aligned("in_dev", in_dev, call.type));
    GRADCOLL_TRY(check_aligned("base_dev", base_dev, call.type));
    GRADCOLL_TRY(check_aligned("out_dev", out_dev, call.type));
    const auto stream = static_cast<cudaStream_t>(call.stream);
    return result_of_launch(with_shape(call, [&](auto shape, auto format) {
        using Format = decltype(format);
        using Bits = typename Format::Bits;
        decode_sum_kernel<decltype(shape), Format>
            <<<blocks_for(call.count_elems), threads_per_block, 0, stream>>>(
                in_dev, call.count_elems, static_cast<const Bits*>(base_dev),
                static_cast<Bits*>(out_dev), invalid_dev);
    }));
}

}  // namespace gradcoll
