#include "runtime/notices.hpp"

#include <cstdint>
#include <cstring>

namespace gradcoll {
namespace {

constexpr std::uint64_t magic = 0x6563'6974'6f6e'6367;
constexpr std::uint64_t signature_magic = 0x6e67'6973'6563'6367;

/// Wire is the notice as it travels.
struct Wire {
    std::uint64_t magic;
    std::int32_t rank;
    std::uint32_t code;
};
static_assert(sizeof(Wire) == FailureNotice::most_bytes);

struct SignatureWire {
    std::uint64_t magic;
    std::uint64_t signature;
};
static_assert(sizeof(SignatureWire) == SignatureNotice::size_bytes);

}  // namespace

FailureNotice::FailureNotice(const Failure& failure) {
    const Wire wire{magic, failure.rank, static_cast<std::uint32_t>(failure.code)};
    std::memcpy(bytes_.data(), &wire, sizeof wire);
}

std::optional<Failure> FailureNotice::instead_of(std::size_t expected_bytes, const std::byte* data,
                                                 std::size_t received_bytes) {
    if (expected_bytes == 0 || received_bytes != size_for(expected_bytes)) return std::nullopt;
    return received_bytes == 0 ? Failure() : at(data);
}

std::optional<Failure> FailureNotice::at(const std::byte* data) {
    Wire wire{};
    std::memcpy(&wire, data, sizeof wire);
    const bool is_known = wire.magic == magic && wire.rank >= Failure::nobody_known &&
                          wire.code <= static_cast<std::uint32_t>(Code::internal);
    if (!is_known) return std::nullopt;
    return Failure{wire.rank, static_cast<Code>(wire.code)};
}

SignatureNotice::SignatureNotice(std::uint64_t signature) {
    const SignatureWire wire{signature_magic, signature};
    std::memcpy(bytes_.data(), &wire, sizeof wire);
}

std::optional<std::uint64_t> SignatureNotice::ahead_of(std::size_t expected_bytes,
                                                       const std::byte* data,
                                                       std::size_t received_bytes) {
    if (!precedes(expected_bytes) || received_bytes != size_bytes) return std::nullopt;
    SignatureWire wire{};
    std::memcpy(&wire, data, sizeof wire);
    if (wire.magic != signature_magic) return std::nullopt;
    return wire.signature;
}

}  // namespace gradcoll
