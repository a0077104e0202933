// compress/lanes/fixed_rate.hpp - the kernels of a codec whose encodings are as long as their
// number of elements says: lengths are looked at here, once a call, and nowhere further in.
#pragma once

#include <cstddef>

#include "compress/kernels.hpp"

namespace gradcoll {
namespace {

/// FixedRate makes kernels of a `Coder`, which has static functions:
template <class Coder>
struct FixedRate {
    static std::size_t encode(const CodecParameters&, const void* in, std::size_t count,
                              std::byte* out) {
        Coder::encode(in, count, out);
        return Coder::bytes(count);
    }
    static std::size_t encode_with_residual(const CodecParameters&, const void* in, void* residual,
                                            std::size_t count, std::byte* out) {
        Coder::encode_with_residual(in, residual, count, out);
        return Coder::bytes(count);
    }
    static bool decode(const std::byte* in, std::size_t in_bytes, std::size_t count, void* out) {
        return in_bytes == Coder::bytes(count) && Coder::decode(in, count, out);
    }
    static bool decode_sum(const std::byte* in, std::size_t in_bytes, std::size_t count,
                           const void* base, void* out) {
        return in_bytes == Coder::bytes(count) && Coder::decode_sum(in, count, base, out);
    }
};

template <class Coder>
Kernels fixed_rate_kernels() {
    using Entry = FixedRate<Coder>;
    return {Entry::encode, Entry::encode_with_residual, Entry::decode, Entry::decode_sum};
}

}  // namespace
}  // namespace gradcoll
