#include "compress/reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "compress/codec.hpp"

namespace gradcoll::test {
namespace {

struct Format16 {
    int fraction_bits, exponent_bits;
};
Format16 format_of(ElementType type) {
    return type == ElementType::f16 ? Format16{10, 5} : Format16{7, 8};
}

double magnitude16(Format16 format, std::uint64_t bits) {
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    const auto exponent = static_cast<int>(bits >> format.fraction_bits);
    const auto fraction = static_cast<double>(bits & ((1u << format.fraction_bits) - 1));
    const double one = std::ldexp(1.0, format.fraction_bits);
    if (exponent == 0) return std::ldexp(fraction / one, 1 - bias);
    return std::ldexp(1 + fraction / one,
                      exponent - bias);  // for Inf: the value it stands for in rounding
}

std::uint64_t infinity16(Format16 format) {
    return ((1ull << format.exponent_bits) - 1) << format.fraction_bits;
}

std::uint64_t round16(Format16 format, double value) {
    const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
    const std::uint64_t inf = infinity16(format);
    if (std::isnan(value)) return sign | inf | 1ull << (format.fraction_bits - 1);
    const double wanted = std::fabs(value);
    std::uint64_t low = 0, high = inf;  // invariant: magnitude(low) <= wanted
    if (wanted >= magnitude16(format, inf)) return sign | inf;
    while (high - low > 1) {
        const std::uint64_t middle = (low + high) / 2;
        (magnitude16(format, middle) <= wanted ? low : high) = middle;
    }
    const double below = wanted - magnitude16(format, low);
    const double above = magnitude16(format, high) - wanted;
    if (below == above) return sign | (low % 2 == 0 ? low : high);
    return sign | (below < above ? low : high);
}

/// Returns the scalar kernels, which those of stages from outside must equal.
Codec scalar(CodecId codec, ElementType type) {
    return *codec_for(codec, type, InstructionSet::scalar);
}

struct Granularity {
    std::size_t keep, group;
};
Granularity granularity_of(CodecId codec) {
    switch (codec) {
        case CodecId::nm_1_4:
            return {1, 4};
        case CodecId::nm_2_4:
            return {2, 4};
        case CodecId::nm_1_8:
            return {1, 8};
        case CodecId::nm_2_8:
            return {2, 8};
        case CodecId::nm_4_8:
            return {4, 8};
        case CodecId::nm_1_16:
            return {1, 16};
        default:
            return {0, 0};
    }
}

std::uint64_t magnitude_bits(ElementType type, std::uint64_t bits) {
    const std::uint64_t sign = 1ull << (element_bytes(type) * 8 - 1);
    return bits & ~sign;
}

/// Returns the places of the `keep` first elements of a group, in element order.
std::vector<std::size_t> kept_places(const Bytes& plain, ElementType type, std::size_t first,
                                     Granularity g) {
    std::vector<std::size_t> places(g.group);
    std::iota(places.begin(), places.end(), first);
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        return magnitude_bits(type, element(plain, type, a)) >
               magnitude_bits(type, element(plain, type, b));
    });
    places.resize(g.keep);
    std::sort(places.begin(), places.end());
    return places;
}

/// Returns what comes out of a group of which more than `keep` are Inf or NaN: its mask is all
/// ones.
std::uint64_t flood_of(ElementType type) {
    return (1ull << (element_bytes(type) * 8 - 1)) - 1;
}
bool is_flooded(const Bytes& plain, ElementType type, std::size_t first, Granularity g) {
    std::size_t not_finite = 0;
    for (std::size_t i = first; i < first + g.group; ++i)
        not_finite += std::isfinite(value_of(type, element(plain, type, i))) ? 0 : 1;
    return not_finite > g.keep;
}

void append_word(Bytes& out, std::uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8)
        out.push_back(static_cast<std::byte>(word >> shift));
}

Bytes encode_nm(ElementType type, const Bytes& plain, Granularity g) {
    Bytes out;
    const std::size_t count = elements_in(plain, type);
    for (std::size_t first = 0; first < count; first += 512) {
        const std::size_t elems = std::min<std::size_t>(512, count - first);
        const std::size_t grouped = elems / g.group * g.group;
        std::vector<std::uint32_t> words((grouped + 31) / 32, 0);
        Bytes kept;
        for (std::size_t i = 0; i < grouped; i += g.group) {
            if (is_flooded(plain, type, first + i, g))
                words[i / 32] |= ((1u << g.group) - 1) << i % 32;
            for (const std::size_t place : kept_places(plain, type, first + i, g)) {
                words[(place - first) / 32] |= 1u << (place - first) % 32;
                append_element(kept, type, element(plain, type, place));
            }
        }
        for (std::size_t i = grouped; i < elems; ++i)
            append_element(kept, type, element(plain, type, first + i));
        for (const std::uint32_t word : words) append_word(out, word);
        out.insert(out.end(), kept.begin(), kept.end());
    }
    return out;
}

Bytes decode_nm(ElementType type, const Bytes& encoded, std::size_t count, Granularity g) {
    Bytes out;
    std::size_t at = 0;  // bytes
    for (std::size_t first = 0; first < count; first += 512) {
        const std::size_t elems = std::min<std::size_t>(512, count - first);
        const std::size_t grouped = elems / g.group * g.group;
        const std::size_t mask = at;
        at += (grouped + 31) / 32 * 4;
        const auto is_set = [&](std::size_t i) {
            return (std::to_integer<int>(encoded[mask + i / 8]) >> i % 8 & 1) != 0;
        };
        for (std::size_t i = 0; i < elems; ++i) {
            bool flooded = i < grouped;
            for (std::size_t j = 0; flooded && j < g.group; ++j)
                flooded = is_set(i / g.group * g.group + j);
            const bool kept = i >= grouped || (flooded ? i % g.group < g.keep : is_set(i));
            std::uint64_t bits = 0;
            if (kept) {
                std::memcpy(&bits, encoded.data() + at, element_bytes(type));
                at += element_bytes(type);
            }
            append_element(out, type, flooded ? flood_of(type) : bits);
        }
    }
    return out;
}

}  // namespace

double value_of(ElementType type, std::uint64_t bits) {
    if (type == ElementType::f64) return std::bit_cast<double>(bits);
    if (type == ElementType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const Format16 format = format_of(type);
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    const std::uint64_t magnitude = bits & 0x7fff;
    if (magnitude == infinity16(format)) return sign * std::numeric_limits<double>::infinity();
    if (magnitude > infinity16(format)) return std::numeric_limits<double>::quiet_NaN();
    return sign * magnitude16(format, magnitude);
}

std::uint64_t bits_of(ElementType type, double value) {
    if (type == ElementType::f64) return std::bit_cast<std::uint64_t>(value);
    if (type == ElementType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return round16(format_of(type), value);
}

bool is_nan(ElementType type, std::uint64_t bits) {
    return is_floating(type) && std::isnan(value_of(type, bits));
}

std::uint64_t element(const Bytes& array, ElementType type, std::size_t index) {
    std::uint64_t bits = 0;  // little endian, as the formats are
    std::memcpy(&bits, array.data() + index * element_bytes(type), element_bytes(type));
    return bits;
}

void append_element(Bytes& array, ElementType type, std::uint64_t bits) {
    for (std::size_t i = 0; i < element_bytes(type); ++i)
        array.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

std::size_t elements_in(const Bytes& array, ElementType type) {
    return array.size() / element_bytes(type);
}

bool is_own(CodecId codec) {
    return number_of(codec) < 128;
}

Bytes reference_encode(CodecId codec, ElementType type, const Bytes& plain) {
    if (codec == CodecId::exact) return plain;
    if (!is_own(codec)) {
        Bytes out(bound_bytes(codec, element_bytes(type), elements_in(plain, type)));
        out.resize(scalar(codec, type).encode(plain.data(), elements_in(plain, type), out.data()));
        return out;
    }
    if (is_escaping(codec)) return encode_escaping(codec, type, plain);
    if (const int bits = quantizer_bits(codec); bits != 0)
        return encode_quantized(bits, type, plain);
    if (is_bound(codec)) return encode_bound(parameters_of(codec).abs, type, plain);
    if (const auto chain = chain_of(codec)) return encode_chain(*chain, type, plain);
    if (codec != CodecId::bf16) return encode_nm(type, plain, granularity_of(codec));
    Bytes out;
    for (std::size_t i = 0; i < elements_in(plain, type); ++i) {
        const std::uint64_t bits = element(plain, type, i);
        // NaN keeps its sign and upper payload bits and becomes quiet.
        append_element(out, ElementType::bf16,
                       is_nan(type, bits) ? (bits >> 16 | 0x40)
                                          : bits_of(ElementType::bf16, value_of(type, bits)));
    }
    return out;
}

Bytes reference_decode(CodecId codec, ElementType type, const Bytes& encoded, std::size_t count) {
    if (codec == CodecId::exact) return encoded;
    if (!is_own(codec)) {
        Bytes out(count * element_bytes(type));
        if (!scalar(codec, type).decode(encoded.data(), encoded.size(), count, out.data()))
            out.clear();
        return out;
    }
    if (is_escaping(codec)) return decode_escaping(codec, type, encoded, count);
    if (const int bits = quantizer_bits(codec); bits != 0)
        return decode_quantized(bits, type, encoded, count);
    if (is_bound(codec)) return decode_bound(type, encoded, count);
    if (const auto chain = chain_of(codec)) return decode_chain(*chain, type, encoded, count);
    if (codec != CodecId::bf16) return decode_nm(type, encoded, count, granularity_of(codec));
    Bytes out;
    for (std::size_t i = 0; i < count; ++i)
        append_element(out, type, element(encoded, ElementType::bf16, i) << 16);
    return out;
}

Bytes reference_sum(CodecId codec, ElementType type, const Bytes& encoded, const Bytes& base) {
    const std::size_t count = elements_in(base, type);
    const Bytes decoded = reference_decode(codec, type, encoded, count);
    Bytes out;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t a = element(base, type, i), b = element(decoded, type, i);
        if (!is_floating(type)) {
            append_element(out, type, a + b);
        } else if (type == ElementType::f64) {
            append_element(out, type, bits_of(type, value_of(type, a) + value_of(type, b)));
        } else {
            const float sum =
                static_cast<float>(value_of(type, a)) + static_cast<float>(value_of(type, b));
            append_element(out, type, bits_of(type, sum));
        }
    }
    return out;
}

}  // namespace gradcoll::test
