// compress/codec.hpp - a codec at work: values to bytes and back.
#pragma once

#include <cstddef>
#include <span>

#include "base/cpu.hpp"
#include "base/status.hpp"
#include "compress/codec_id.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// The kernels of one codec for one element type on this CPU. Stateless; thread safe if buffers do
/// not overlap; never allocates. Every instruction set gives the same bytes (tests/compress).
/// Buffers need no alignment; 64 bytes is fastest.
struct Codec {
    /// Writes to `out` and returns how many bytes: at most bound_bytes(id, element size, count),
    /// and as many as that if the codec has a fixed rate. Nothing behind the bound is touched.
    using Encode = std::size_t (*)(const void* in, std::size_t count, std::byte* out);
    /// Like Encode for the values in[i] + residual[i]; afterwards residual[i] is what the receiver
    /// will not get (0 where that would be NaN or Inf). Residuals are fp32, for fp64 elements fp64.
    using EncodeWithResidual = std::size_t (*)(const void* in, void* residual, std::size_t count,
                                               std::byte* out);
    /// `in` holds in_bytes bytes from a peer, untrusted: false if that is not the length of an
    /// encoding of `count` elements, or if the bytes are none (then `out` is unspecified). Whatever
    /// they are, nothing outside in[0, in_bytes) is read and nothing outside `out` is touched.
    using Decode = bool (*)(const std::byte* in, std::size_t in_bytes, std::size_t count,
                            void* out);
    /// out[i] = base[i] + decoded[i]; `base` may be `out`.
    using DecodeSum = bool (*)(const std::byte* in, std::size_t in_bytes, std::size_t count,
                               const void* base, void* out);

    CodecId id = CodecId::exact;
    ElementType type = ElementType::f32;
    Encode encode = nullptr;
    EncodeWithResidual encode_with_residual = nullptr;
    Decode decode = nullptr;
    DecodeSum decode_sum = nullptr;
};

/// The best kernels on this CPU. Errors: unsupported if the codec is not defined for the type.
/// `exact` is here too (encode is a copy), so that error feedback can flush a residual through an
/// exact hop.
Result<Codec> codec_for(CodecId id, ElementType type);

/// The kernels of one instruction set (of a lower one if the codec has none for it), for tests and
/// benchmarks that compare them. GC_CPU does not limit these. Errors: also unsupported if this CPU
/// does not run the set, or lacks an extension of it that the kernels need.
Result<Codec> codec_for(CodecId id, ElementType type, InstructionSet set);
bool kernels_available(InstructionSet set);

}  // namespace gradcoll
