#include "compress/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

namespace gradcoll::test {
namespace {

/// CodeWidth is the number of bits of a code; the rest follows.
struct CodeWidth {
    int bits;
    int lowest(bool has_specials) const { return -(1 << (bits - 1)) + (has_specials ? 2 : 0); }
    int highest(bool has_specials) const { return (1 << (bits - 1)) - (has_specials ? 2 : 1); }
    int special(double value) const {
        if (std::isnan(value)) return lowest(false);
        return value < 0 ? lowest(false) + 1 : highest(false);
    }
};

template <class Float>
void append_float(Bytes& out, Float value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
}

/// Appends codes as bits, the lowest of the first code first.
void append_codes(Bytes& out, const std::vector<int>& codes, int bits) {
    std::vector<bool> stream;
    for (const int code : codes)
        for (int bit = 0; bit < bits; ++bit) stream.push_back((code >> bit & 1) != 0);
    stream.resize((stream.size() + 7) / 8 * 8);
    for (std::size_t at = 0; at < stream.size(); at += 8) {
        int byte = 0;
        for (std::size_t bit = 0; bit < 8; ++bit) byte |= static_cast<int>(stream[at + bit]) << bit;
        out.push_back(static_cast<std::byte>(byte));
    }
}
int code_at(const std::byte* codes, std::size_t i, int bits) {
    int code = 0;
    for (int bit = 0; bit < bits; ++bit) {
        const std::size_t at = i * static_cast<std::size_t>(bits) + static_cast<std::size_t>(bit);
        code |= (std::to_integer<int>(codes[at / 8]) >> at % 8 & 1) << bit;
    }
    return code >= 1 << (bits - 1) ? code - (1 << bits) : code;
}

constexpr std::size_t quantized_block = 256;

/// `Float` is what the type is calculated in; each line one rounded operation.
template <class Float>
void encode_quantized_block(Bytes& out, std::vector<Float> values, CodeWidth width) {
    std::vector<Float> finite;
    for (const Float value : values)
        if (std::isfinite(value)) finite.push_back(value);
    const bool has_specials = finite.size() < values.size();
    if (finite.empty()) finite.push_back(0);
    const Float lowest = *std::min_element(finite.begin(), finite.end());
    const Float highest = *std::max_element(finite.begin(), finite.end());
    const auto first = static_cast<Float>(width.lowest(has_specials));
    const auto last = static_cast<Float>(width.highest(has_specials));
    Float scale = 0, inverse = 0, offset = lowest == 0 ? 0 : lowest;
    if (lowest < highest) {
        const Float half_range = highest / 2 - lowest / 2;
        scale = std::max(half_range / ((last - first) / 2), std::numeric_limits<Float>::min());
        inverse = 1 / scale;
        const Float steps_to_zero = std::nearbyint(lowest * inverse);
        const Float from_zero = (first - steps_to_zero) * scale;
        const Float from_first = first * scale;
        offset = lowest <= 0 && highest >= 0 ? 0 - from_zero : lowest - from_first;
    }
    append_float(out, has_specials ? -scale : scale);
    append_float(out, offset);
    std::vector<int> codes;
    for (const Float value : values) {
        const Float steps = (value - offset) * inverse;
        codes.push_back(std::isfinite(value)
                            ? static_cast<int>(std::nearbyint(std::clamp(steps, first, last)))
                            : width.special(value));
    }
    append_codes(out, codes, width.bits);
}

template <class Float>
Bytes encode_as(ElementType type, const Bytes& plain, CodeWidth width) {
    Bytes out;
    std::vector<Float> block;
    for (std::size_t i = 0; i < elements_in(plain, type); ++i) {
        block.push_back(static_cast<Float>(value_of(type, element(plain, type, i))));
        if (block.size() < quantized_block && i + 1 < elements_in(plain, type)) continue;
        encode_quantized_block(out, block, width);
        block.clear();
    }
    return out;
}

template <class Float>
Bytes decode_as(ElementType type, const Bytes& encoded, std::size_t count, CodeWidth width) {
    const std::uint64_t inf = bits_of(type, std::numeric_limits<double>::infinity());
    const auto largest = static_cast<Float>(value_of(type, inf - 1));
    Bytes out;
    const std::byte* at = encoded.data();
    for (std::size_t first = 0; first < count; first += quantized_block) {
        const std::size_t elems = std::min(quantized_block, count - first);
        Float scale, offset;
        std::memcpy(&scale, at, sizeof scale);
        std::memcpy(&offset, at + sizeof scale, sizeof offset);
        at += 2 * sizeof scale;
        for (std::size_t i = 0; i < elems; ++i) {
            const int code = code_at(at, i, width.bits);
            const Float steps = static_cast<Float>(code) * std::fabs(scale);
            Float value = offset + steps;
            if (std::fabs(value) > largest) {
                const Float half_steps = static_cast<Float>(code) * (std::fabs(scale) / 2);
                value = 2 * std::clamp(offset / 2 + half_steps, -largest / 2, largest / 2);
            }
            if (!std::signbit(scale) || (code >= width.lowest(true) && code <= width.highest(true)))
                append_element(out, type, bits_of(type, value));
            else if (code == width.lowest(false))
                append_element(out, type, bits_of(type, std::numeric_limits<double>::quiet_NaN()));
            else
                append_element(out, type, code < 0 ? bits_of(type, -INFINITY) : inf);
        }
        at += (elems * static_cast<std::size_t>(width.bits) + 7) / 8;
    }
    return out;
}

}  // namespace

int quantizer_bits(CodecId codec) {
    const std::string_view name = name_of(codec);
    return name == "int4" ? 4 : name == "int8" ? 8 : name == "int16" ? 16 : 0;
}

Bytes encode_quantized(int bits, ElementType type, const Bytes& plain) {
    return type == ElementType::f64 ? encode_as<double>(type, plain, {bits})
                                    : encode_as<float>(type, plain, {bits});
}

Bytes decode_quantized(int bits, ElementType type, const Bytes& encoded, std::size_t count) {
    return type == ElementType::f64 ? decode_as<double>(type, encoded, count, {bits})
                                    : decode_as<float>(type, encoded, count, {bits});
}

}  // namespace gradcoll::test
