// compress/exact/exact_stream.hpp - the exact codec over the lanes of one instruction set.
#pragma once

#include <cstdint>
#include <cstring>

#include "compress/exact/exact_kernels.hpp"
#include "compress/feedback/feedback.hpp"
#include "compress/lanes/elementwise.hpp"

namespace gradcoll {
namespace {

template <std::size_t elem_bytes>
struct ExactCopy {
    static void encode(const void* in, std::size_t count, std::byte* out) {
        if (count != 0) std::memcpy(out, in, count * elem_bytes);
    }
    static bool decode(const std::byte* in, std::size_t count, void* out) {
        if (count != 0) std::memcpy(out, in, count * elem_bytes);
        return true;
    }
};

template <class Lanes>
struct ExactFloat : ExactCopy<sizeof(typename Lanes::Format::Bits)> {
    using Bits = typename Lanes::Format::Bits;

    static void encode_with_residual(const void* in, void* residual, std::size_t count,
                                     std::byte* out) {
        const auto load_input = [in](auto lanes, std::size_t i) {
            using L = decltype(lanes);
            return L::widen(L::load(element_at<Bits>(in, i)));
        };
        encode_elements_with_residual<Lanes>(load_input, residual, count, out);
    }
    static bool decode_sum(const std::byte* in, std::size_t count, const void* base, void* out) {
        for_lanes<Lanes>(count, [=](auto lanes, std::size_t i) {
            using L = decltype(lanes);
            const auto sum =
                sum_of<L>(L::load(element_at<Bits>(base, i)), L::load(element_at<Bits>(in, i)));
            L::store(element_at<Bits>(out, i), sum);
        });
        return true;
    }
};

/// Integers of either sign wrap around alike.
template <class Unsigned>
struct ExactInteger : ExactCopy<sizeof(Unsigned)> {
    static void encode_with_residual(const void* in, void*, std::size_t count, std::byte* out) {
        ExactInteger::encode(in, count, out);
    }
    static bool decode_sum(const std::byte* in, std::size_t count, const void* base, void* out) {
        for (std::size_t i = 0; i < count; ++i) {
            Unsigned a, b;
            std::memcpy(&a, element_at<Unsigned>(base, i), sizeof a);
            std::memcpy(&b, element_at<Unsigned>(in, i), sizeof b);
            a = static_cast<Unsigned>(a + b);
            std::memcpy(element_at<Unsigned>(out, i), &a, sizeof a);
        }
        return true;
    }
};

template <class Stream>
Kernels exact_kernels_of() {
    return {Stream::encode, Stream::encode_with_residual, Stream::decode, Stream::decode_sum};
}

template <template <class Format> class Lanes>
Kernels exact_kernels_for(ElementType type) {
    switch (type) {
        case ElementType::f16:
            return exact_kernels_of<ExactFloat<Lanes<Fp16>>>();
        case ElementType::bf16:
            return exact_kernels_of<ExactFloat<Lanes<Bf16>>>();
        case ElementType::f32:
            return exact_kernels_of<ExactFloat<Lanes<Fp32>>>();
        case ElementType::f64:
            return exact_kernels_of<ExactFloat<Lanes<Fp64>>>();
        case ElementType::i8:
        case ElementType::u8:
            return exact_kernels_of<ExactInteger<std::uint8_t>>();
        case ElementType::i16:
        case ElementType::u16:
            return exact_kernels_of<ExactInteger<std::uint16_t>>();
        case ElementType::i32:
        case ElementType::u32:
            return exact_kernels_of<ExactInteger<std::uint32_t>>();
        case ElementType::i64:
        case ElementType::u64:
            return exact_kernels_of<ExactInteger<std::uint64_t>>();
        case ElementType::opaque:
            return {};
    }
    return {};
}

}  // namespace
}  // namespace gradcoll
