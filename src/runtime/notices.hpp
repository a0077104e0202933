// runtime/notices.hpp - what a rank says where plain elements are expected, which have no header:
// that its operation has failed, in their place; ahead of them, what operation it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/failure.hpp"

namespace gradcoll {

/// A FailureNotice is shorter than the message that it stands for. If that message is no longer
/// than these bytes, the notice is empty, and says only that somebody failed.
class FailureNotice {
  public:
    static constexpr std::size_t most_bytes = 16;

    FailureNotice() = default;
    explicit FailureNotice(const Failure& failure);

    const std::byte* data() const { return bytes_.data(); }
    static constexpr std::size_t size_for(std::size_t message_bytes) {
        return message_bytes > most_bytes ? most_bytes : 0;
    }
    /// Returns the failure if a notice has come in place of a message of `expected_bytes`. The
    /// bytes are not trusted.
    static std::optional<Failure> instead_of(std::size_t expected_bytes, const std::byte* data,
                                             std::size_t received_bytes);
    /// Returns the failure if the bytes are a notice of most_bytes. The bytes are not trusted.
    static std::optional<Failure> at(const std::byte* data);

  private:
    std::array<std::byte, most_bytes> bytes_{};
};

/// A SignatureNotice goes ahead of the first plain message to each peer, as a message of the same
/// tag, if an operation has another signature (Binding::signature) than the one before. Ranks whose
/// types or ops differ then get an error, and who repeats a call pays nothing. A message that is no
/// longer than a notice has none.
class SignatureNotice {
  public:
    static constexpr std::size_t size_bytes = 16;

    SignatureNotice() = default;
    explicit SignatureNotice(std::uint64_t signature);

    const std::byte* data() const { return bytes_.data(); }
    static constexpr bool precedes(std::size_t message_bytes) { return message_bytes > size_bytes; }
    /// Returns the signature if a notice has come where a message of `expected_bytes` was expected.
    /// The bytes are not trusted.
    static std::optional<std::uint64_t> ahead_of(std::size_t expected_bytes, const std::byte* data,
                                                 std::size_t received_bytes);

  private:
    std::array<std::byte, size_bytes> bytes_{};
};

}  // namespace gradcoll
