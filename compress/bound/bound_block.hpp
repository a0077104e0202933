// compress/bound/bound_block.hpp - a block from elements to bytes and back. `Block` does the work
// on all elements (bound_scalar_block.hpp says what its functions mean).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/bound/bound_grid.hpp"
#include "compress/lanes/elementwise.hpp"
#include "compress/lanes/variable_rate.hpp"

namespace gradcoll::bound {
namespace {

/// CodeRoom has room for the codes of a block and the one before the first.
struct CodeRoom {
    alignas(64) std::uint32_t room[row_elems + block_elems];
    std::uint32_t* codes() { return room + row_elems; }
};

template <class Block, bool with_residual>
class BlockEncoder {
    using T = typename Block::Lanes::Format;
    using Bits = typename T::Bits;
    using Wide = typename T::Wide;
    using Plan = BlockPlan<T>;

  public:
    BlockEncoder(const std::byte* in, std::byte* residual, std::size_t elems, std::byte* out)
        : in_(in), residual_(residual), elems_(elems), out_(out) {}

    /// Returns how many bytes were written.
    std::size_t encode(const Tolerance<Wide>& tolerance) {
        const Survey<Wide> survey =
            Block::template gather<with_residual>(in_, residual_, wanted_, elems_);
        const Plan plan = Plan::of(survey, tolerance);
        if (plan.kind == Plan::Kind::plain || !is_shorter(plan.width)) return send_plain();
        if (plan.kind == Plan::Kind::constant) return send_constant(plan.value);
        if (Block::template quantize<with_residual>(
                wanted_, plan.grid, plan.lowest, tolerance.limit, room_.codes(), residual_, elems_))
            return send_codes(plan);
        return send_plain();
    }

  private:
    /// Returns whether codes are shorter than plain elements.
    bool is_shorter(int width) const {
        return Header<Wide>::bytes(false) + codes_bytes(width, elems_) <
               plain_bytes(sizeof(Bits), elems_);
    }

    std::size_t send_constant(Wide value) {
        if constexpr (with_residual) Block::keep_rest_of(wanted_, value, residual_, elems_);
        const Header<Wide> header{.step = value};
        header.write(out_);
        return header.bytes();
    }

    std::size_t send_plain() {
        Header<Wide>::put(out_, plain_mark);
        if constexpr (with_residual)
            Block::send_plain(wanted_, out_ + mark_bytes, residual_, elems_);
        else
            std::memcpy(out_ + mark_bytes, in_, elems_ * sizeof(Bits));
        return plain_bytes(sizeof(Bits), elems_);
    }

    std::size_t send_codes(const Plan& plan) {
        std::uint32_t* codes = room_.codes();
        Header<Wide> header{.width = plan.width, .start = plan.lowest, .step = plan.grid.step};
        if (has_small_differences(header)) {
            header.start += codes[-1];
            Block::take_differences(codes, header.least_difference, elems_);
        }
        for (std::size_t i = elems_; i % row_elems != 0; ++i) codes[i] = 0;
        header.write(out_);
        Block::pack(codes, header.width, out_ + header.bytes(), elems_);
        return header.bytes() + codes_bytes(header.width, elems_);
    }

    /// Returns whether differences are shorter than codes; then the header says so. It first looks
    /// at some: most data are no curves. The code before the first one continues what the first two
    /// do.
    bool has_small_differences(Header<Wide>& header) {
        constexpr int most_width = 31;  // else a difference may be longer than 32 bits
        constexpr std::size_t some = 64;
        std::uint32_t* codes = room_.codes();
        codes[-1] = codes[0] - (codes[1] - codes[0]);
        if (header.width > most_width) return false;
        const auto first = Block::differences_of(codes, elems_ < some ? elems_ : some);
        if (bits_of(first.span()) >= header.width) return false;
        const auto all = Block::differences_of(codes, elems_);
        const Header<Wide> shorter{bits_of(all.span()), true, header.start,
                                   static_cast<std::uint32_t>(all.least), header.step};
        if (bytes_with(shorter) >= bytes_with(header)) return false;
        header = shorter;
        return true;
    }
    std::size_t bytes_with(const Header<Wide>& header) const {
        return header.bytes() + codes_bytes(header.width, elems_);
    }

    const std::byte* in_;
    std::byte* residual_;
    std::size_t elems_;
    std::byte* out_;
    alignas(64) Wide wanted_[block_elems];
    CodeRoom room_;
};

/// Takes the plain elements of a block; the mark has been looked at.
template <class Block, class Step>
inline bool decode_plain(Input& in, std::size_t elems, Step step) {
    using Bits = typename Block::Lanes::Format::Bits;
    if (in.left < plain_bytes(sizeof(Bits), elems)) return false;
    const std::byte* from = in.take(plain_bytes(sizeof(Bits), elems)) + mark_bytes;
    for_lanes<typename Block::Lanes>(elems, [=](auto lanes, std::size_t i) {
        step(lanes, i, decltype(lanes)::load(from + i * sizeof(Bits)));
    });
    return true;
}

template <class Block, class Step>
inline void decode_constant(typename Block::Lanes::Format::Wide value, std::size_t elems,
                            Step step) {
    using T = typename Block::Lanes::Format;
    typename T::Bits copies[Block::Lanes::elems];
    for (auto& copy : copies) copy = ScalarLanes<T>::narrow(value);
    for_lanes<typename Block::Lanes>(
        elems, [&](auto lanes, std::size_t i) { step(lanes, i, decltype(lanes)::load(copies)); });
}

/// Takes a block; calls step(lanes, i, values) for its elements. Returns false if the bytes are no
/// encoding.
template <class Block, class Step>
inline bool decode_block(Input& in, std::size_t elems, Step step) {
    using T = typename Block::Lanes::Format;
    using Wide = typename T::Wide;
    if (in.left < mark_bytes) return false;
    if (Header<Wide>::get(in.at) == plain_mark) return decode_plain<Block>(in, elems, step);
    Header<Wide> header;
    if (!Header<Wide>::read(in.at, in.left, header)) return false;
    const std::size_t bytes = header.bytes() + codes_bytes(header.width, elems);
    if (bytes > in.left || bytes >= plain_bytes(sizeof(typename T::Bits), elems)) return false;
    const std::byte* from = in.take(bytes) + header.bytes();
    if (header.width == 0) {
        decode_constant<Block>(header.step, elems, step);
        return true;
    }
    CodeRoom room;
    if (!Block::unpack(from, header.width, room.codes(), elems)) return false;
    if (header.has_differences)
        Block::add_differences(room.codes(), header.least_difference, elems);
    Block::dequantize(room.codes(), header, step, elems);
    return true;
}

}  // namespace
}  // namespace gradcoll::bound
