// examples/extend/codec/zeros_stage.cpp - a codec stage from outside the library: fp32 elements
// without their zeros. README.md beside this file has the wire format.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "compress/stage.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t zeros_block_elems = 512;
constexpr std::size_t zeros_elem_bytes = sizeof(float);
constexpr std::byte zeros_raw{0}, zeros_packed{1};  // the first byte of a block

/// A ZerosArray reads elements that need not be aligned, as is true of all arguments of a stage.
struct ZerosArray {
    const void* first;

    std::uint32_t operator[](std::size_t i) const {
        std::uint32_t bits;
        std::memcpy(&bits, static_cast<const std::byte*>(first) + i * sizeof bits, sizeof bits);
        return bits;
    }
    float value(std::size_t i) const { return std::bit_cast<float>((*this)[i]); }
};

void zeros_put(void* array, std::size_t i, std::uint32_t bits) {
    std::memcpy(static_cast<std::byte*>(array) + i * sizeof bits, &bits, sizeof bits);
}

std::size_t zeros_bitmap_bytes(std::size_t elems) {
    return (elems + 7) / 8;
}

/// Encodes a block; bits(i) are the elements from `first` on. Returns how many bytes were written.
template <class Bits>
std::size_t zeros_encode_block(Bits bits, std::size_t first, std::size_t elems, std::byte* out) {
    std::size_t others = 0;
    for (std::size_t i = first; i < first + elems; ++i) others += bits(i) != 0;
    const std::size_t packed = zeros_bitmap_bytes(elems) + others * zeros_elem_bytes;
    const bool packs = packed < elems * zeros_elem_bytes;
    *out++ = packs ? zeros_packed : zeros_raw;
    std::byte* const bitmap = out;
    if (packs) {
        std::memset(bitmap, 0, zeros_bitmap_bytes(elems));
        out += zeros_bitmap_bytes(elems);
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < elems; ++i) {
        const std::uint32_t element = bits(first + i);
        if (packs && element == 0) continue;
        if (packs) bitmap[i / 8] |= std::byte{1} << (i % 8);
        zeros_put(out, next++, element);
    }
    return 1 + (packs ? packed : elems * zeros_elem_bytes);
}

template <class Bits>
std::size_t zeros_encode_all(Bits bits, std::size_t count, std::byte* out) {
    std::size_t size = 0;
    for (std::size_t first = 0; first < count; first += zeros_block_elems)
        size +=
            zeros_encode_block(bits, first, std::min(zeros_block_elems, count - first), out + size);
    return size;
}

/// ZerosInput reads bytes of a peer: take() returns null if they are not there, and nothing else is
/// read.
struct ZerosInput {
    const std::byte* at;
    std::size_t left;

    const std::byte* take(std::size_t size_bytes) {
        if (size_bytes > left) return nullptr;
        left -= size_bytes;
        return std::exchange(at, at + size_bytes);
    }
};

/// Calls element(i, bits) for each element. Returns false if the bytes are no encoding of a block.
template <class Element>
bool zeros_decode_block(ZerosInput& in, std::size_t first, std::size_t elems, Element element) {
    const std::byte* kind = in.take(1);
    if (kind == nullptr || (*kind != zeros_raw && *kind != zeros_packed)) return false;
    if (*kind == zeros_raw) {
        const ZerosArray values{in.take(elems * zeros_elem_bytes)};
        for (std::size_t i = 0; values.first != nullptr && i < elems; ++i)
            element(first + i, values[i]);
        return values.first != nullptr;
    }
    const std::byte* bitmap = in.take(zeros_bitmap_bytes(elems));
    if (bitmap == nullptr) return false;
    if (elems % 8 != 0 && bitmap[elems / 8] >> (elems % 8) != std::byte{0}) return false;
    for (std::size_t i = 0; i < elems; ++i) {
        std::uint32_t bits = 0;
        if ((bitmap[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0}) {
            const ZerosArray value{in.take(zeros_elem_bytes)};
            if (value.first == nullptr || (bits = value[0]) == 0) return false;
        }
        element(first + i, bits);
    }
    return true;
}

template <class Element>
bool zeros_decode_all(ZerosInput in, std::size_t count, Element element) {
    for (std::size_t first = 0; first < count; first += zeros_block_elems)
        if (!zeros_decode_block(in, first, std::min(zeros_block_elems, count - first), element))
            return false;
    return in.left == 0;
}

std::size_t zeros_encode(const CodecParameters&, const void* in, std::size_t count,
                         std::byte* out) {
    return zeros_encode_all([in](std::size_t i) { return ZerosArray{in}[i]; }, count, out);
}

/// Encodes everything, so that nothing is left in the residual.
std::size_t zeros_encode_with_residual(const CodecParameters&, const void* in, void* residual,
                                       std::size_t count, std::byte* out) {
    const auto wanted = [in, residual](std::size_t i) {
        return std::bit_cast<std::uint32_t>(ZerosArray{in}.value(i) +
                                            ZerosArray{residual}.value(i));
    };
    const std::size_t size = zeros_encode_all(wanted, count, out);
    if (count > 0) std::memset(residual, 0, count * zeros_elem_bytes);
    return size;
}

bool zeros_decode(const std::byte* in, std::size_t in_bytes, std::size_t count, void* out) {
    return zeros_decode_all({in, in_bytes}, count,
                            [out](std::size_t i, std::uint32_t bits) { zeros_put(out, i, bits); });
}

bool zeros_decode_sum(const std::byte* in, std::size_t in_bytes, std::size_t count,
                      const void* base, void* out) {
    return zeros_decode_all({in, in_bytes}, count, [base, out](std::size_t i, std::uint32_t bits) {
        const float sum = ZerosArray{base}.value(i) + std::bit_cast<float>(bits);
        zeros_put(out, i, std::bit_cast<std::uint32_t>(sum));
    });
}

Kernels zeros_kernels(const CodecMember&, ElementType type) {
    if (type != ElementType::f32) return {};
    return {zeros_encode, zeros_encode_with_residual, zeros_decode, zeros_decode_sum};
}

constexpr CodecMember zeros_members[] = {{.number = 200, .name = "zeros"}};

constexpr CodecStage zeros_stage{
    .members = zeros_members,
    .description = [](const CodecMember&) { return std::string("leaves zeros out"); },
    .supports = [](const CodecMember&, ElementType type) { return type == ElementType::f32; },
    .block_elems = zeros_block_elems,
    .has_fixed_rate = false,
    .bound_bytes =
        [](const CodecMember&, std::size_t elem_bytes, std::size_t count) {
            return count * elem_bytes + (count + zeros_block_elems - 1) / zeros_block_elems;
        },
    .kernels = {zeros_kernels}};

}  // namespace

const CodecStage& zeros_codec_stage() {
    return zeros_stage;
}

}  // namespace gradcoll
