// moved_bytes.hpp - counts what a codec kernel must read and write, to the byte.
#pragma once

#include <cstddef>
#include <string_view>

#include "compress/codec_id.hpp"
#include "compress/device_codec.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll::bench {

/// A Kind is a codec for an element type.
struct Kind {
    CodecId codec = CodecId::nm_2_4;
    ElementType type = ElementType::f32;
    friend bool operator==(const Kind&, const Kind&) = default;
};

/// Returns "encode", "encode+residual", "decode" or "decode+sum".
std::string_view name_of(CodecWork work);

/// Returns the bytes of one residual: that of fp32, for fp64 elements that of fp64.
std::size_t residual_bytes(ElementType type);

/// MovedBytes counts every buffer once for what is read of it and once for what is written.
struct MovedBytes {
    std::size_t read = 0;
    std::size_t written = 0;
    std::size_t total() const { return read + written; }
};
MovedBytes moved_bytes(const Kind& kind, CodecWork work, std::size_t count);

}  // namespace gradcoll::bench
