// compress/width/width_kernels.cpp - the kernels of one instruction set: the blocks of
// quantization with a tolerance (compress/quant), each in the width that makes it shortest. The
// build compiles this once for each (gradcoll_kernels).
#include <cstring>
#include <type_traits>

#include "compress/kernels.hpp"
#include "compress/lanes/variable_rate.hpp"
#include "compress/quant/escape_block.hpp"
#include "compress/quant/escape_scalar_block.hpp"
#include "compress/quant/escape_vector_block.hpp"
#include "compress/quant/quant_by_type.hpp"
#include "compress/quant/quant_vector_block.hpp"
#include "reduce/float_types.hpp"

namespace gradcoll::width {
namespace {

using quant::escape_block_elems;

/// Blocks has the code for blocks of one width: whole ones, and the last one.
template <class Isa, class W, class Format>
struct Blocks {
    using Width = W;
    using Lanes = typename Isa::template Lanes<Format>;
    using Rest = quant::EscapeScalarBlock<W, Format>;
    using Whole =
        std::conditional_t<Isa::has_vectors,
                           quant::EscapeVectorBlock<W, Lanes, quant::Instructions<Isa>>, Rest>;
};

template <class Isa, class Format>
class WidthCoder {
    using Bits = typename Format::Bits;
    using Wide = typename Format::Wide;
    template <int bits>
    using Of = Blocks<Isa, quant::Width<bits>, Format>;
    static constexpr bool has_16_bits = sizeof(Bits) > 2;
    /// A block that is not plain has its width in front.
    static constexpr std::size_t width_bytes = 1;
    static constexpr std::size_t most_bytes =
        sizeof(Wide) + escape_block_elems * sizeof(Bits) + width_bytes;

  public:
    using Lanes = typename Of<8>::Whole::Lanes;
    using Told = quant::Loss<Wide>;
    static constexpr std::size_t block_elems = escape_block_elems;

    static Told told_of(const CodecParameters& parameters) { return Told::of(parameters.abs, 0); }

    template <bool with_residual>
    static std::size_t encode(const std::byte* in, std::byte* residual, std::size_t elems,
                              std::byte* out, const Told& told) {
        Attempts<with_residual> attempts(in, residual, elems, told);
        attempts.template add<4>();
        attempts.template add<8>();
        if constexpr (has_16_bits) attempts.template add<16>();
        return attempts.take_best(out);
    }

    template <class Step>
    static bool decode(Input& in, std::size_t elems, Step step) {
        if (in.left == 0) return false;
        const auto first = static_cast<unsigned char>(*in.at);
        if (first == plain_mark)
            return in.left >= sizeof(Wide) && quant::is_plain_mark<Wide>(in.at) &&
                   decode_as<4>(in, elems, step);
        if (in.left > sizeof(Wide) && quant::is_plain_mark<Wide>(in.at + width_bytes)) return false;
        in.take(width_bytes);
        if (first == 4) return decode_as<4>(in, elems, step);
        if (first == 8) return decode_as<8>(in, elems, step);
        if constexpr (has_16_bits)
            if (first == 16) return decode_as<16>(in, elems, step);
        return false;
    }

  private:
    static constexpr unsigned char plain_mark = 0xff;

    template <int bits, class Step>
    static bool decode_as(Input& in, std::size_t elems, Step step) {
        return elems < block_elems
                   ? quant::decode_escape_block<typename Of<bits>::Rest>(in, elems, step)
                   : quant::decode_escape_block<typename Of<bits>::Whole>(in, elems, step);
    }

    /// Attempts encodes a block in one width after another, and keeps the shortest, of equals the
    /// narrowest. Wider codes are tried only if they could be shorter. Each attempt begins with the
    /// residual as it was.
    template <bool with_residual>
    class Attempts {
      public:
        Attempts(const std::byte* in, std::byte* residual, std::size_t elems, const Told& told)
            : in_(in), residual_(residual), elems_(elems), told_(told) {}

        template <int bits>
        void add() {
            using Sizes = quant::EscapeSizes<quant::Width<bits>, Bits, Wide>;
            if (best_bits_ != 0 && best_bytes_ <= Sizes::coded(elems_, 0)) return;
            const int place = best_bits_ == 0 ? 0 : 1 - best_place_;
            std::byte* rest = nullptr;
            if constexpr (with_residual) {
                rest = rests_[place];
                std::memcpy(rest, residual_, elems_ * sizeof(Wide));
            }
            const std::size_t bytes = encode_as<bits>(rest, room_[place]);
            if (best_bits_ != 0 && bytes >= best_bytes_) return;
            best_bytes_ = bytes;
            best_bits_ = bits;
            best_place_ = place;
        }

        std::size_t take_best(std::byte* out) const {
            if constexpr (with_residual)
                std::memcpy(residual_, rests_[best_place_], elems_ * sizeof(Wide));
            const std::byte* const from = room_[best_place_];
            const std::size_t front = quant::is_plain_mark<Wide>(from) ? 0 : width_bytes;
            if (front != 0) *out = static_cast<std::byte>(best_bits_);
            std::memcpy(out + front, from, best_bytes_);
            return front + best_bytes_;
        }

      private:
        template <int bits>
        std::size_t encode_as(std::byte* rest, std::byte* to) const {
            using Rest = quant::EscapeEncoder<typename Of<bits>::Rest, with_residual>;
            using Whole = quant::EscapeEncoder<typename Of<bits>::Whole, with_residual>;
            if (elems_ < block_elems) return Rest(in_, rest, elems_, to).encode(told_);
            return Whole(in_, rest, elems_, to).encode(told_);
        }

        static constexpr std::size_t rest_bytes =
            with_residual ? escape_block_elems * sizeof(Wide) : 1;

        const std::byte* in_;
        std::byte* residual_;
        std::size_t elems_;
        const Told& told_;
        std::size_t best_bytes_ = 0;
        int best_bits_ = 0;
        int best_place_ = 0;
        alignas(64) std::byte room_[2][most_bytes];
        alignas(64) std::byte rests_[2][rest_bytes];
    };
};

template <class Isa>
Kernels kernels_for(ElementType type) {
    return for_float_type(type, [](auto format) {
        return variable_rate_kernels<WidthCoder<Isa, decltype(format)>>();
    });
}

}  // namespace
}  // namespace gradcoll::width

namespace gradcoll {

Kernels GRADCOLL_OF_SET(width_kernels)(ElementType type) {
    return width::kernels_for<GRADCOLL_ISA>(type);
}

}  // namespace gradcoll
