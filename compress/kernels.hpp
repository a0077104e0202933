// compress/kernels.hpp - what one instruction set offers for one codec and one element type.
// Included by files that are compiled with extra instruction-set flags: no inline function of the
// standard library may be instantiated from here, or the linker could keep the copy that needs
// those instructions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradcoll {

/// Packing says how messages of encodings are packed once more, without loss (compress/lossless).
/// The numbers travel on the wire.
enum class Packing : unsigned char { none = 0, zstd = 1, lz4 = 2 };

/// CodecParameters is what an encoder is told besides the values. Decoders need none of it; which
/// form of a codec it is (stage.hpp) may depend on it.
struct CodecParameters {
    double abs = 0;          ///< every element is to come back within this; 0: not said
    double rel = 0;          ///< within this times its magnitude; 0: not said
    std::uint32_t seed = 0;  ///< seed of stochastic rounding; 0: to nearest
    /// If this is not 0, each call says how much a part is (gc_tolerance), and `abs` is this many
    /// of them.
    std::uint16_t call_parts = 0;
    /// Packing is not the encoder's business, but that of whoever sends what it wrote.
    Packing packing = Packing::none;
};
bool operator==(const CodecParameters& a, const CodecParameters& b);

/// Kernels are function pointers with the meaning that codec.hpp gives to them; all are null if the
/// codec is not defined for the type.
struct Kernels {
    std::size_t (*encode)(const CodecParameters& parameters, const void* in, std::size_t count,
                          std::byte* out) = nullptr;
    std::size_t (*encode_with_residual)(const CodecParameters& parameters, const void* in,
                                        void* residual, std::size_t count,
                                        std::byte* out) = nullptr;
    bool (*decode)(const std::byte* in, std::size_t in_bytes, std::size_t count,
                   void* out) = nullptr;
    bool (*decode_sum)(const std::byte* in, std::size_t in_bytes, std::size_t count,
                       const void* base, void* out) = nullptr;
};

}  // namespace gradcoll
