// reduce/element_type.hpp - the element types that our own kernels and codecs understand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gradcoll {

/// `opaque` is any other contiguous element: it can be moved and handed to the MPI library's own
/// reduction, but not read by us; its size travels beside it.
enum class ElementType : std::uint8_t {
    f16,
    bf16,
    f32,
    f64,
    i8,
    u8,
    i16,
    u16,
    i32,
    u32,
    i64,
    u64,
    opaque
};

/// Bytes of one element; 0 for opaque.
constexpr std::size_t element_bytes(ElementType type) {
    switch (type) {
        case ElementType::i8:
        case ElementType::u8:
            return 1;
        case ElementType::f16:
        case ElementType::bf16:
        case ElementType::i16:
        case ElementType::u16:
            return 2;
        case ElementType::f32:
        case ElementType::i32:
        case ElementType::u32:
            return 4;
        case ElementType::f64:
        case ElementType::i64:
        case ElementType::u64:
            return 8;
        case ElementType::opaque:
            return 0;
    }
    return 0;
}

constexpr bool is_floating(ElementType type) {
    return type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::f32 ||
           type == ElementType::f64;
}

constexpr std::string_view name_of(ElementType type) {
    constexpr std::string_view names[] = {"fp16",  "bf16",   "fp32",   "fp64",  "int8",
                                          "uint8", "int16",  "uint16", "int32", "uint32",
                                          "int64", "uint64", "opaque"};
    return names[static_cast<std::size_t>(type)];
}

}  // namespace gradcoll
