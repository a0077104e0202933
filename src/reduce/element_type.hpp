// reduce/element_type.hpp - the element types that our own kernels and codecs understand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gradcoll {

/// An `opaque` element is any other contiguous one: it can be moved and handed to the MPI library's
/// own reduction, but not read by us; its size travels beside it.
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

/// Returns the bytes of one element; 0 for opaque.
constexpr std::size_t element_bytes(ElementType type) {
    // The sizes are in the order of the enum.
    constexpr std::size_t bytes[] = {2, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8, 0};
    return bytes[static_cast<std::size_t>(type)];
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
