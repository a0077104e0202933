#include "runtime/variable_rate_codec.hpp"

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "compress/codec.hpp"

namespace gradcoll {
namespace {

std::atomic<bool> variable{true};

using Half = std::uint16_t;

float at(const void* values, std::size_t i) {
    float value = 0;
    std::memcpy(&value, static_cast<const float*>(values) + i, sizeof value);
    return value;
}
Half upper(float value) {
    return static_cast<Half>(std::bit_cast<std::uint32_t>(value) >> 16);
}
float value_of(Half half) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}
void put_half(std::byte* out, std::size_t i, Half half) {
    std::memcpy(out + i * sizeof half, &half, sizeof half);
}
Half get_half(const std::byte* in, std::size_t i) {
    Half half = 0;
    std::memcpy(&half, in + i * sizeof half, sizeof half);
    return half;
}

// Fixed: count halves. Variable: how many pairs (place, half) follow, or `all_of_them` and count
// halves.
constexpr Half all_of_them = 0xffff;

template <class Value>
std::size_t encode_all(Value value, std::size_t count, std::byte* out) {
    for (std::size_t i = 0; i < count; ++i) put_half(out, i, value(i));
    return count * sizeof(Half);
}

template <class Value>
std::size_t encode_variable(Value value, std::size_t count, std::byte* out) {
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (value(i) != 0) ++pairs;
    if (2 * pairs >= count) {
        put_half(out, 0, all_of_them);
        return sizeof(Half) + encode_all(value, count, out + sizeof(Half));
    }
    put_half(out, 0, static_cast<Half>(pairs));
    std::size_t end = 1;
    for (std::size_t i = 0; i < count; ++i)
        if (value(i) != 0) {
            put_half(out, end++, static_cast<Half>(i));
            put_half(out, end++, value(i));
        }
    return end * sizeof(Half);
}

template <bool is_variable, class Value>
std::size_t encode_values(Value value, std::size_t count, std::byte* out) {
    return is_variable ? encode_variable(value, count, out) : encode_all(value, count, out);
}

template <bool is_variable>
std::size_t encode(const CodecParameters&, const void* in, std::size_t count, std::byte* out) {
    return encode_values<is_variable>([=](std::size_t i) { return upper(at(in, i)); }, count, out);
}

template <bool is_variable>
std::size_t encode_with_residual(const CodecParameters&, const void* in, void* residual,
                                 std::size_t count, std::byte* out) {
    auto* rest = static_cast<float*>(residual);
    const auto wanted = [=](std::size_t i) { return at(in, i) + rest[i]; };
    const std::size_t size =
        encode_values<is_variable>([=](std::size_t i) { return upper(wanted(i)); }, count, out);
    for (std::size_t i = 0; i < count; ++i) rest[i] = wanted(i) - value_of(upper(wanted(i)));
    return size;
}

template <class Take>
bool decode_all(const std::byte* in, std::size_t in_bytes, std::size_t count, Take take) {
    if (in_bytes != count * sizeof(Half)) return false;
    for (std::size_t i = 0; i < count; ++i) take(i, get_half(in, i));
    return true;
}

template <class Take>
bool decode_variable(const std::byte* in, std::size_t in_bytes, std::size_t count, Take take) {
    if (in_bytes < sizeof(Half)) return false;
    const std::size_t pairs = get_half(in, 0);
    if (pairs == all_of_them)
        return decode_all(in + sizeof(Half), in_bytes - sizeof(Half), count, take);
    if (in_bytes != (1 + 2 * pairs) * sizeof(Half)) return false;
    std::size_t next = 0;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        const std::size_t place = get_half(in, 1 + 2 * pair);
        if (place < next || place >= count) return false;
        for (; next < place; ++next) take(next, 0);
        take(next++, get_half(in, 2 + 2 * pair));
    }
    for (; next < count; ++next) take(next, 0);
    return true;
}

template <bool is_variable, class Take>
bool decode_values(const std::byte* in, std::size_t in_bytes, std::size_t count, Take take) {
    return is_variable ? decode_variable(in, in_bytes, count, take)
                       : decode_all(in, in_bytes, count, take);
}

template <bool is_variable>
bool decode(const std::byte* in, std::size_t in_bytes, std::size_t count, void* out) {
    return decode_values<is_variable>(in, in_bytes, count, [=](std::size_t i, Half half) {
        static_cast<float*>(out)[i] = value_of(half);
    });
}

template <bool is_variable>
bool decode_sum(const std::byte* in, std::size_t in_bytes, std::size_t count, const void* base,
                void* out) {
    return decode_values<is_variable>(in, in_bytes, count, [=](std::size_t i, Half half) {
        static_cast<float*>(out)[i] = at(base, i) + value_of(half);
    });
}

template <bool is_variable>
Codec kernels() {
    return {test_codec,
            ElementType::f32,
            {},
            {encode<is_variable>, encode_with_residual<is_variable>, decode<is_variable>,
             decode_sum<is_variable>}};
}

}  // namespace

void use_variable_rate(bool is_variable) {
    variable = is_variable;
}

// In place of the library's: the first definition wins.

bool has_fixed_rate(CodecId codec) {
    return codec != test_codec || !variable;
}

bool has_fixed_rate(CodecId codec, const CodecParameters&) {
    return has_fixed_rate(codec);
}

std::size_t bound_bytes(CodecId codec, std::size_t elem_bytes, std::size_t count) {
    if (codec == CodecId::exact) return count * elem_bytes;
    if (codec != test_codec) std::abort();
    const std::size_t block = codec_block_elems(codec);
    return (count + (variable ? (count + block - 1) / block : 0)) * sizeof(Half);
}

Result<Codec> codec_for(CodecId codec, ElementType type) {
    if (codec == CodecId::exact) return codec_for(codec, type, InstructionSet::scalar);
    if (codec != test_codec || type != ElementType::f32) std::abort();
    return variable ? kernels<true>() : kernels<false>();
}

}  // namespace gradcoll

// Which asks for the rate itself.
#include "compress/frame.cpp"
