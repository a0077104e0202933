// compress/exact/exact_kernels.cpp - the exact codec over the lanes of one instruction set. The
// build compiles this once for each (gradcoll_kernels).
#include <cstdint>
#include <cstring>

#include "compress/feedback/feedback.hpp"
#include "compress/kernels.hpp"
#include "compress/lanes/elementwise.hpp"
#include "compress/lanes/streaming.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {
namespace {

/// ExactCopy takes Lanes of any format, which only move bytes.
template <class Lanes, std::size_t elem_bytes>
struct ExactCopy {
    static constexpr std::size_t bytes(std::size_t count) { return count * elem_bytes; }
    static void encode(const void* in, std::size_t count, std::byte* out) {
        copy_large<Lanes>(out, in, count * elem_bytes);
    }
    static bool decode(const std::byte* in, std::size_t count, void* out) {
        copy_large<Lanes>(out, in, count * elem_bytes);
        return true;
    }
};

template <class Lanes>
struct ExactFloat : ExactCopy<Lanes, sizeof(typename Lanes::Format::Bits)> {
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

/// Adds integers, of which those of either sign wrap around alike.
template <class Lanes, class Unsigned>
struct ExactInteger : ExactCopy<Lanes, sizeof(Unsigned)> {
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

template <class Lanes, std::size_t piece = 512>
using StreamedExactFloat =
    Streaming<ExactFloat<Lanes>, Lanes, typename Lanes::Format::Bits, typename Lanes::Format::Wide,
              piece, piece * sizeof(typename Lanes::Format::Bits)>;

/// What calculates is streamed piece by piece; copies stream by themselves.
template <class Lanes>
struct LargeExactFloat : ExactFloat<Lanes> {
    static void encode_with_residual(const void* in, void* residual, std::size_t count,
                                     std::byte* out) {
        StreamedExactFloat<Lanes>::encode_with_residual(in, residual, count, out);
    }
    static bool decode_sum(const std::byte* in, std::size_t count, const void* base, void* out) {
        return StreamedExactFloat<Lanes>::decode_sum(in, count, base, out);
    }
};

template <class Lanes>
Kernels exact_kernels_of_float() {
    return fixed_rate_kernels<LargeExactFloat<Lanes>>();
}

template <class Lanes, class Unsigned>
Kernels exact_kernels_of_integer() {
    return fixed_rate_kernels<ExactInteger<Lanes, Unsigned>>();
}

template <template <class Format> class Lanes>
Kernels exact_kernels_for(ElementType type) {
    switch (type) {
        case ElementType::f16:
            return exact_kernels_of_float<Lanes<Fp16>>();
        case ElementType::bf16:
            return exact_kernels_of_float<Lanes<Bf16>>();
        case ElementType::f32:
            return exact_kernels_of_float<Lanes<Fp32>>();
        case ElementType::f64:
            return exact_kernels_of_float<Lanes<Fp64>>();
        case ElementType::i8:
        case ElementType::u8:
            return exact_kernels_of_integer<Lanes<Fp32>, std::uint8_t>();
        case ElementType::i16:
        case ElementType::u16:
            return exact_kernels_of_integer<Lanes<Fp32>, std::uint16_t>();
        case ElementType::i32:
        case ElementType::u32:
            return exact_kernels_of_integer<Lanes<Fp32>, std::uint32_t>();
        case ElementType::i64:
        case ElementType::u64:
            return exact_kernels_of_integer<Lanes<Fp32>, std::uint64_t>();
        case ElementType::opaque:
            return {};
    }
    return {};
}

}  // namespace

Kernels GRADCOLL_OF_SET(exact_kernels)(ElementType type) {
    return exact_kernels_for<GRADCOLL_ISA::Lanes>(type);
}

}  // namespace gradcoll
