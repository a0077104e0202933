// runtime/failure_notice.hpp - what a rank whose operation has failed sends in place of plain
// elements, which have no header that could say so.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "base/failure.hpp"

namespace gradcoll {

/// A notice is shorter than the message that it stands for; of a message that is no longer than
/// these bytes it is empty, and says only that somebody failed.
class FailureNotice {
  public:
    static constexpr std::size_t most_bytes = 16;

    FailureNotice() = default;
    explicit FailureNotice(const Failure& failure);

    const std::byte* data() const { return bytes_.data(); }
    static constexpr std::size_t size_for(std::size_t message_bytes) {
        return message_bytes > most_bytes ? most_bytes : 0;
    }
    /// What has come in place of a message of `expected_bytes`, if that is a notice. Untrusted.
    static std::optional<Failure> instead_of(std::size_t expected_bytes, const std::byte* data,
                                             std::size_t received_bytes);
    /// What a notice of most_bytes says, if it is one. Untrusted.
    static std::optional<Failure> at(const std::byte* data);

  private:
    std::array<std::byte, most_bytes> bytes_{};
};

}  // namespace gradcoll
