// compress/nm/nm_cuda.hpp - the N:M codecs on a GPU: the same bytes as the CPU's, made where the
// gradients are. Built from nm_cuda.cu or, without CUDA, from nm_nocuda.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "compress/codec_id.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// What both directions need to know. `stream` is a cudaStream_t; null is the default stream.
struct NmCudaCall {
    CodecId codec = CodecId::nm_2_4;
    ElementType type = ElementType::f32;
    std::size_t count_elems = 0;
    void* stream = nullptr;
};

bool nm_cuda_built();

/// Enqueues the encoding of in_dev[0, count_elems) to out_dev[0, encoded_bytes(...)) and returns at
/// once. Both buffers are device memory, aligned to the element size. Never allocates. Errors:
/// unsupported (built without CUDA, or codec not defined for the type); invalid_buffer (alignment);
/// transport (the CUDA runtime refused the launch, with its own words).
Status nm_encode_cuda(const NmCudaCall& call, const void* in_dev, std::byte* out_dev);

/// Enqueues out[i] = base[i] + decoded[i]; `base_dev` may be `out_dev`. Sets *invalid_dev to 1 if a
/// mask word is not legal (then the output is unspecified, but nothing outside the buffers was
/// touched) and leaves it alone otherwise: clear it before, read it after. Errors as above.
Status nm_decode_sum_cuda(const NmCudaCall& call, const std::byte* in_dev, const void* base_dev,
                          void* out_dev, std::uint32_t* invalid_dev);

}  // namespace gradcoll
