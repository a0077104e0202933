// compress/cast/bf16_kernels.cpp - the bf16 codec over the lanes of one instruction set. The build
// compiles this once for each (gradcoll_kernels).
#include "compress/feedback/feedback.hpp"
#include "compress/kernels.hpp"
#include "compress/lanes/elementwise.hpp"
#include "compress/lanes/streaming.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {
namespace {

/// `Lanes` are those of Bf16, whose wide format is the codec's element type.
template <class Lanes>
struct Bf16Stream {
    using Bits = Bf16::Bits;

    static constexpr std::size_t bytes(std::size_t count) { return count * sizeof(Bits); }

    static void encode(const void* in, std::size_t count, std::byte* out) {
        for_lanes<Lanes>(count, [=](auto lanes, std::size_t i) {
            using L = decltype(lanes);
            L::store(element_at<Bits>(out, i), L::narrow(L::load_wide(element_at<float>(in, i))));
        });
    }
    static void encode_with_residual(const void* in, void* residual, std::size_t count,
                                     std::byte* out) {
        const auto load_input = [in](auto lanes, std::size_t i) {
            return decltype(lanes)::load_wide(element_at<float>(in, i));
        };
        encode_elements_with_residual<Lanes>(load_input, residual, count, out);
    }
    static bool decode(const std::byte* in, std::size_t count, void* out) {
        for_lanes<Lanes>(count, [=](auto lanes, std::size_t i) {
            using L = decltype(lanes);
            L::store_wide(element_at<float>(out, i), L::widen(L::load(element_at<Bits>(in, i))));
        });
        return true;
    }
    static bool decode_sum(const std::byte* in, std::size_t count, const void* base, void* out) {
        for_lanes<Lanes>(count, [=](auto lanes, std::size_t i) {
            using L = decltype(lanes);
            const auto value = L::widen(L::load(element_at<Bits>(in, i)));
            const auto sum = L::add(L::load_wide(element_at<float>(base, i)), value);
            L::store_wide(element_at<float>(out, i), sum);
        });
        return true;
    }
};

template <class Lanes>
Kernels bf16_kernels_for(ElementType type) {
    if (type != ElementType::f32) return {};
    constexpr std::size_t piece = 512;
    return streaming_kernels<Bf16Stream<Lanes>, Lanes, float, float, piece,
                             piece * sizeof(Bf16::Bits)>();
}

}  // namespace

Kernels GRADCOLL_OF_SET(bf16_kernels)(ElementType type) {
    return bf16_kernels_for<GRADCOLL_ISA::Lanes<Bf16>>(type);
}

}  // namespace gradcoll
