// compress/width/width_kernels.cpp - the kernels of one instruction set: the blocks of
// quantization with a tolerance (compress/quant), each in the width that makes it shortest. The
// build compiles this once for each (gradcoll_kernels).
#include <cstddef>
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

  public:
    using Lanes = typename Of<8>::Whole::Lanes;
    using Told = quant::Loss<Wide>;
    static constexpr std::size_t block_elems = escape_block_elems;

    static Told told_of(const CodecParameters& parameters) { return Told::of(parameters.abs, 0); }

    template <bool with_residual>
    static std::size_t encode(const std::byte* in, std::byte* residual, std::size_t elems,
                              std::byte* out, const Told& told) {
        quant::EscapeInput<Wide> input(in, residual, elems);
        return elems < block_elems ? encode_block<with_residual, RestOf>(input, out, told)
                                   : encode_block<with_residual, WholeOf>(input, out, told);
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

    template <int bits>
    using RestOf = typename Of<bits>::Rest;
    template <int bits>
    using WholeOf = typename Of<bits>::Whole;

    /// Encodes a block in the width that makes it shortest as far as the windows tell, of equals in
    /// the narrowest. Windows of wider codes are looked for only if they could be shorter.
    template <bool with_residual, template <int> class Block>
    static std::size_t encode_block(quant::EscapeInput<Wide>& input, std::byte* out,
                                    const Told& told) {
        quant::EscapeEncoder<Block<4>, with_residual> of_4(input, told);
        of_4.gather();
        if (of_4.is_constant()) return with_width(4, of_4.send_constant(out + width_bytes), out);
        if (!of_4.may_have_codes()) return of_4.send_plain(out);
        quant::EscapeEncoder<Block<8>, with_residual> of_8(input, told);
        std::size_t best_bytes = of_4.choose();
        int best = best_bytes < of_4.plain_bytes() ? 4 : 0;
        const auto try_width = [&](auto& encoder, int bits) {
            if (encoder.least_bytes() >= best_bytes) return;
            const std::size_t bytes = encoder.choose();
            if (bytes >= best_bytes) return;
            best_bytes = bytes;
            best = bits;
        };
        try_width(of_8, 8);
        std::size_t sent = 0;
        if constexpr (has_16_bits) {
            quant::EscapeEncoder<Block<16>, with_residual> of_16(input, told);
            try_width(of_16, 16);
            if (best == 16) sent = send(of_16, out);
        }
        if (best == 8) sent = send(of_8, out);
        if (best == 4) sent = send(of_4, out);
        return sent != 0 ? with_width(best, sent, out) : of_4.send_plain(out);
    }
    template <class Encoder>
    static std::size_t send(Encoder& encoder, std::byte* out) {
        encoder.widen();
        return encoder.send_codes(out + width_bytes);
    }
    static std::size_t with_width(int bits, std::size_t bytes, std::byte* out) {
        *out = static_cast<std::byte>(bits);
        return width_bytes + bytes;
    }
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
