// compress/codec.hpp - a codec at work: values to bytes and back.
#pragma once

#include <cstddef>
#include <span>

#include "base/cpu.hpp"
#include "base/status.hpp"
#include "compress/codec_id.hpp"
#include "compress/kernels.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// A Codec has the kernels of one codec for one element type on this CPU. It is stateless; thread
/// safe if buffers do not overlap; never allocates. Every instruction set gives the same bytes
/// (tests/compress). Buffers need no alignment; 64 bytes is fastest.
struct Codec {
    /// Returns whether there are kernels, which the other functions need.
    bool is_there() const { return kernels.encode != nullptr; }
    /// Writes to `out` and returns how many bytes: at most bound_bytes(id, element size, count),
    /// and as many as that if the codec has a fixed rate. Nothing behind the bound is touched.
    std::size_t encode(const void* in, std::size_t count, std::byte* out) const {
        return kernels.encode(parameters, in, count, out);
    }
    /// Encodes the values in[i] + residual[i] as encode() does; afterwards residual[i] is what the
    /// receiver will not get (0 where that would be NaN or Inf). Residuals are fp32, for fp64
    /// elements fp64.
    std::size_t encode_with_residual(const void* in, void* residual, std::size_t count,
                                     std::byte* out) const {
        return kernels.encode_with_residual(parameters, in, residual, count, out);
    }
    /// Decodes in_bytes bytes from a peer, untrusted. Returns false if that is not the length of an
    /// encoding of `count` elements, or if the bytes are none (then `out` is unspecified). Whatever
    /// they are, nothing outside in[0, in_bytes) is read and nothing outside `out` is touched.
    bool decode(const std::byte* in, std::size_t in_bytes, std::size_t count, void* out) const {
        return kernels.decode(in, in_bytes, count, out);
    }
    /// Computes out[i] = base[i] + decoded[i]; `base` may be `out`.
    bool decode_sum(const std::byte* in, std::size_t in_bytes, std::size_t count, const void* base,
                    void* out) const {
        return kernels.decode_sum(in, in_bytes, count, base, out);
    }

    CodecId id = CodecId::exact;
    ElementType type = ElementType::f32;
    CodecParameters parameters;  ///< those of `id`, or what a call says
    Kernels kernels;
};

/// Returns the best kernels on this CPU. Errors: unsupported if the codec is not defined for the
/// type. `exact` is here too (encode is a copy), so that error feedback can flush a residual
/// through an exact hop.
Result<Codec> codec_for(CodecId id, ElementType type);
/// Does the same for plain(id) given these parameters, which this process need not have met before.
Result<Codec> codec_for(CodecId id, const CodecParameters& parameters, ElementType type);

/// Returns the kernels of one instruction set (of a lower one if the codec has none for it), for
/// tests and benchmarks that compare them. GC_CPU does not limit these. Errors: also unsupported if
/// this CPU does not run the set, or lacks an extension of it that the kernels need.
Result<Codec> codec_for(CodecId id, ElementType type, InstructionSet set);
bool kernels_available(InstructionSet set);
/// Returns the best of these that GC_CPU allows.
InstructionSet best_codec_set();

}  // namespace gradcoll
