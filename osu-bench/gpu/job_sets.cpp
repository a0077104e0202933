// job_sets.cpp - makes random data and the CPU's result, and copies both to the device.
#include "job_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "compress/codec.hpp"

namespace gradcoll::bench {
namespace {

constexpr int poison = 0xa5;
constexpr std::size_t guard_bytes = 256;

/// Mixes a counter to good random bits (Splitmix64; Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t counter) {
    std::uint64_t z = counter * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// ExponentField says where the exponent of a format is, and which ones are far from zero and from
/// infinity.
struct ExponentField {
    unsigned shift;
    std::uint64_t mask;  ///< before the shift
    std::uint64_t lowest;
    std::uint64_t span;  ///< a power of two
};
ExponentField exponent_of(ElementType type) {
    switch (type) {
        case ElementType::f16:
            return {10, 0x1f, 11, 8};
        case ElementType::bf16:
            return {7, 0xff, 112, 16};
        case ElementType::f64:
            return {52, 0x7ff, 1008, 16};
        default:
            return {23, 0xff, 112, 16};
    }
}

std::uint64_t finite_bits(const ExponentField& field, std::uint64_t random) {
    const std::uint64_t exponent = field.lowest + (random >> field.shift) % field.span;
    return (random & ~(field.mask << field.shift)) | (exponent << field.shift);
}

template <class Bits>
Bytes random_of(ElementType type, std::size_t count, std::uint64_t seed) {
    const ExponentField field = exponent_of(type);
    Bytes bytes(count * sizeof(Bits));
    for (std::size_t i = 0; i < count; ++i) {
        const Bits bits = static_cast<Bits>(finite_bits(field, mixed(seed + i)));
        std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
    }
    return bytes;
}

std::uint64_t seed_of(std::uint64_t seed, std::uint64_t vector) {
    return mixed(seed * 4 + vector);
}

void decode(const Codec& codec, CodecWork work, std::size_t count, Expected& expected) {
    const bool valid =
        work == CodecWork::decode
            ? codec.decode(expected.in.data(), expected.in.size(), count, expected.out.data())
            : codec.decode_sum(expected.in.data(), expected.in.size(), count, expected.base.data(),
                               expected.out.data());
    if (!valid) {
        throw std::runtime_error("the CPU's codec refuses what it encoded");
    }
}

void fill(const GpuBuffer& buffer, const Bytes& bytes) {
    if (bytes.empty()) {
        return;
    }
    require(cudaMemcpy(buffer.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
            "filling a buffer");
}

GpuBuffer on_device(const Bytes& bytes) {
    GpuBuffer buffer = bytes.empty() ? GpuBuffer() : GpuBuffer(bytes.size());
    fill(buffer, bytes);
    return buffer;
}

Bytes on_host(const GpuBuffer& buffer, std::size_t size_bytes) {
    Bytes bytes(size_bytes);
    require(cudaMemcpy(bytes.data(), buffer.data(), size_bytes, cudaMemcpyDeviceToHost),
            "reading a buffer");
    return bytes;
}

std::string first_difference(const char* name, const Bytes& seen, const Bytes& right) {
    const auto at = std::mismatch(right.begin(), right.end(), seen.begin());
    if (at.first == right.end()) {
        return {};
    }
    return fmt::format("{}: byte {} of {} is {:#04x}, the CPU's is {:#04x}", name,
                       at.first - right.begin(), right.size(),
                       std::to_integer<unsigned>(*at.second), std::to_integer<unsigned>(*at.first));
}

bool guard_is_touched(const Bytes& seen, std::size_t size_bytes) {
    return std::any_of(seen.begin() + static_cast<std::ptrdiff_t>(size_bytes), seen.end(),
                       [](std::byte b) { return b != std::byte{poison}; });
}

}  // namespace

Bytes random_values(ElementType type, std::size_t count, std::uint64_t seed) {
    switch (element_bytes(type)) {
        case 2:
            return random_of<std::uint16_t>(type, count, seed);
        case 8:
            return random_of<std::uint64_t>(type, count, seed);
        default:
            return random_of<std::uint32_t>(type, count, seed);
    }
}

Expected expected_of(const Kind& kind, CodecWork work, std::size_t count, std::uint64_t seed) {
    const Result<Codec> found = codec_for(kind.codec, kind.type);
    if (!found.ok()) {
        throw std::runtime_error(found.status().message());
    }
    const Codec& codec = *found;
    Bytes values = random_values(kind.type, count, seed_of(seed, 0));
    Bytes encoded(bound_bytes(kind.codec, element_bytes(kind.type), count));
    Expected expected;
    if (work == CodecWork::encode_with_residual) {
        const ElementType type =
            residual_bytes(kind.type) == 8 ? ElementType::f64 : ElementType::f32;
        expected.residual = random_values(type, count, seed_of(seed, 1));
        expected.residual_after = expected.residual;
        codec.encode_with_residual(values.data(), expected.residual_after.data(), count,
                                   encoded.data());
    } else {
        codec.encode(values.data(), count, encoded.data());
    }
    if (work == CodecWork::encode || work == CodecWork::encode_with_residual) {
        expected.in = std::move(values);
        expected.out = std::move(encoded);
        return expected;
    }
    if (work == CodecWork::decode_sum) {
        expected.base = random_values(kind.type, count, seed_of(seed, 2));
    }
    expected.in = std::move(encoded);
    expected.out.resize(values.size());
    decode(codec, work, count, expected);
    return expected;
}

JobSets::JobSets(const Expected& expected, std::size_t count, std::size_t sets)
    : expected_(expected) {
    for (std::size_t s = 0; s < sets; ++s) {
        sets_.push_back({on_device(expected.in), on_device(expected.residual),
                         on_device(expected.base), GpuBuffer(expected.out.size() + guard_bytes)});
        const Set& set = sets_.back();
        jobs_.push_back({.in = set.in.data(),
                         .residual = set.residual.data(),
                         .base = set.base.data(),
                         .out = set.out.data(),
                         .count = count});
    }
}

void JobSets::reset_first() const {
    const Set& set = sets_.front();
    fill(set.residual, expected_.residual);
    require(cudaMemset(set.out.data(), poison, expected_.out.size() + guard_bytes),
            "poisoning a buffer");
    require(cudaDeviceSynchronize(), "poisoning a buffer");
}

std::string JobSets::wrong_in_first() const {
    const Set& set = sets_.front();
    const Bytes out = on_host(set.out, expected_.out.size() + guard_bytes);
    if (guard_is_touched(out, expected_.out.size())) {
        return "bytes behind the output were touched";
    }
    if (std::string wrong = first_difference("output", out, expected_.out); !wrong.empty()) {
        return wrong;
    }
    const Bytes& residual = expected_.residual_after;
    return residual.empty()
               ? ""
               : first_difference("residual", on_host(set.residual, residual.size()), residual);
}

}  // namespace gradcoll::bench
