#include "compress/reference.hpp"

#include <algorithm>
#include <string_view>

namespace gradcoll::test {
namespace {

constexpr std::size_t block = 512, groups_of_block = 128;

bool bit_at(const Bytes& bytes, std::size_t at) {
    return (std::to_integer<int>(bytes[at / 8]) >> at % 8 & 1) != 0;
}
void set_bit(Bytes& bytes, std::size_t at) {
    bytes[at / 8] |= static_cast<std::byte>(1 << at % 8);
}

/// Returns where bit k (0 to 2) of a block's group lies. The last 32 groups take the fourth bits of
/// the others: bit k those of 32 groups from 32 k on.
std::size_t packed_place(std::size_t group, std::size_t k) {
    constexpr std::size_t own = groups_of_block / 4 * 3;
    return group < own ? 4 * group + k : 4 * (32 * k + group - own) + 3;
}

Bytes packed(const Bytes& masks) {
    Bytes out(48);
    for (std::size_t group = 0; group < groups_of_block; ++group)
        for (std::size_t k = 0; k < 3; ++k)
            if (bit_at(masks, 4 * group + k)) set_bit(out, packed_place(group, k));
    return out;
}
Bytes unpacked(const Bytes& in, std::size_t keep) {
    Bytes masks(64);
    for (std::size_t group = 0; group < groups_of_block; ++group) {
        std::size_t set = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            if (!bit_at(in, packed_place(group, k))) continue;
            set_bit(masks, 4 * group + k);
            ++set;
        }
        if (set == 3 || set + 1 == keep) set_bit(masks, 4 * group + 3);
    }
    return masks;
}

Bytes part(const Bytes& bytes, std::size_t first, std::size_t size) {
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(first);
    return {at, at + static_cast<std::ptrdiff_t>(size)};
}
void append(Bytes& out, const Bytes& more) {
    out.insert(out.end(), more.begin(), more.end());
}

/// Layout is that of `elems` elements, at most a block: bytes of N:M's masks, and its values.
struct Layout {
    std::size_t mask_bytes, values;
    Layout(const Chain& chain, std::size_t elems)
        : mask_bytes((elems / 4 * 4 + 31) / 32 * 4), values(elems / 4 * chain.keep + elems % 4) {}
};

}  // namespace

std::optional<Chain> chain_of(CodecId codec) {
    const std::string_view name = name_of(codec);
    if (name == "2:4+int8") return Chain{CodecId::nm_2_4, 2, 8};
    if (name == "1:4+int8") return Chain{CodecId::nm_1_4, 1, 8};
    if (name == "2:4+int4") return Chain{CodecId::nm_2_4, 2, 4};
    return std::nullopt;
}

Bytes encode_chain(const Chain& chain, ElementType type, const Bytes& plain) {
    Bytes out;
    const std::size_t count = elements_in(plain, type), elem = element_bytes(type);
    for (std::size_t first = 0; first < count; first += block) {
        const std::size_t elems = std::min(block, count - first);
        const Layout layout(chain, elems);
        const Bytes chosen =
            reference_encode(chain.chooser, type, part(plain, first * elem, elems * elem));
        const Bytes masks = part(chosen, 0, layout.mask_bytes);
        append(out, elems == block ? packed(masks) : masks);
        append(out, encode_quantized(chain.bits, type,
                                     part(chosen, layout.mask_bytes, layout.values * elem)));
    }
    return out;
}

Bytes decode_chain(const Chain& chain, ElementType type, const Bytes& encoded, std::size_t count) {
    Bytes out;
    std::size_t at = 0;
    const auto take = [&](std::size_t size) {
        at += size;
        return part(encoded, at - size, size);
    };
    for (std::size_t first = 0; first < count; first += block) {
        const std::size_t elems = std::min(block, count - first);
        const Layout layout(chain, elems);
        Bytes chosen = elems == block ? unpacked(take(48), chain.keep) : take(layout.mask_bytes);
        const std::size_t in_blocks = (layout.values + 255) / 256;
        const std::size_t header = type == ElementType::f64 ? 16 : 8;
        const std::size_t codes = (layout.values * static_cast<std::size_t>(chain.bits) + 7) / 8;
        append(chosen,
               decode_quantized(chain.bits, type, take(in_blocks * header + codes), layout.values));
        append(out, reference_decode(chain.chooser, type, chosen, elems));
    }
    return out;
}

}  // namespace gradcoll::test
