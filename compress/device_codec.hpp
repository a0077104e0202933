// compress/device_codec.hpp - codecs at work on a device: what a plug-in offers, without naming any
// device runtime. The bytes and values are those of compress/codec.hpp. Of a fixed rate the host
// knows every size when it launches; of a variable one the device says where each block lies and
// how long it is, and is told so when it decodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "compress/codec_id.hpp"
#include "compress/coded_block.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

enum class CodecWork : std::uint8_t { encode, encode_with_residual, decode, decode_sum };
constexpr bool encodes(CodecWork work) {
    return work == CodecWork::encode || work == CodecWork::encode_with_residual;
}

/// CodecJob is one message's worth of work. All memory is reached by the device; values are aligned
/// to their element, payloads to 2 bytes (16 is fastest for both). Jobs of one launch do not depend
/// on one another.
struct CodecJob {
    const void* in = nullptr;    ///< encode: values; decode: payload, of fixed rate bound_bytes()
    void* residual = nullptr;    ///< encode_with_residual: count fp32 (fp64 for fp64), updated
    const void* base = nullptr;  ///< decode_sum: out = base + decoded; may be `out`
    void* out = nullptr;         ///< encode: payload; decode: values
    std::size_t count = 0;       ///< elements; any, beyond 2^31 too
    /// A codec of variable rate has an entry for each block (codec_block_elems), from the begin of
    /// `out` or `in`. Encoders write it, and make plain what saves no bytes, as encode_block()
    /// does; decoders read it. Whoever decodes has seen to it that blocks lie within `in`.
    CodedBlock* blocks = nullptr;
    /// Encoders begin block i here plus i times the bound of a block.
    std::size_t blocks_at = 0;
};

struct CodecLaunch {
    CodecWork work = CodecWork::encode;
    CodecId codec = CodecId::exact;
    ElementType type = ElementType::f32;
    void* stream = nullptr;  ///< DeviceStream::native()
    /// The device sets this word, which it reaches, to 1 when a payload is no valid encoding (then
    /// the job's output is unspecified, but nothing outside it was touched); else it is left alone.
    /// It is used by decoding only.
    std::uint32_t* invalid = nullptr;
    /// These parameters belong to `codec`, which comes without: whoever launches it keeps
    /// parameters elsewhere than the library does.
    CodecParameters parameters = {};
};

/// A LaunchCodec starts all jobs on the stream, many small ones in one launch; returns at once,
/// allocates nothing. Errors: unsupported (codec, type and work do not go together), invalid_buffer
/// (alignment), transport (the device's runtime refused the launch).
using LaunchCodec = Status (*)(const CodecLaunch& launch, std::span<const CodecJob> jobs);

}  // namespace gradcoll
