// topology/bytes.hpp - writes and reads the byte strings that ranks exchange: little-endian, reads
// are bounds-checked.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace gradcoll {

class ByteWriter {
  public:
    template <class T>
    void number(T value) {
        if constexpr (std::is_floating_point_v<T>) {
            static_assert(sizeof(T) == sizeof(std::uint64_t));
            number(std::bit_cast<std::uint64_t>(value));
        } else {
            const auto bits = static_cast<std::make_unsigned_t<T>>(value);
            for (std::size_t i = 0; i < sizeof(T); ++i)
                bytes_.push_back(static_cast<char>((bits >> (8 * i)) & 0xff));
        }
    }
    /// Writes a 32-bit length, then the bytes.
    void text(std::string_view text) {
        number(static_cast<std::uint32_t>(text.size()));
        bytes_.append(text);
    }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

/// ByteReader never reads past the end: every read says whether the bytes were there. Does not own
/// the bytes.
class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes) : left_(bytes) {}

    template <class T>
    [[nodiscard]] bool number(T& out) {
        if constexpr (std::is_floating_point_v<T>) {
            std::uint64_t bits = 0;
            if (!number(bits)) return false;
            out = std::bit_cast<T>(bits);
        } else {
            if (left_.size() < sizeof(T)) return false;
            std::make_unsigned_t<T> bits = 0;
            for (std::size_t i = sizeof(T); i-- > 0;)
                bits = static_cast<std::make_unsigned_t<T>>((std::uint64_t{bits} << 8) |
                                                            static_cast<unsigned char>(left_[i]));
            left_.remove_prefix(sizeof(T));
            out = static_cast<T>(bits);
        }
        return true;
    }
    /// Returns false also if the text is longer than `max_bytes`.
    [[nodiscard]] bool text(std::string& out, std::size_t max_bytes) {
        std::uint32_t size = 0;
        if (!number(size) || size > max_bytes || size > left_.size()) return false;
        out.assign(left_.substr(0, size));
        left_.remove_prefix(size);
        return true;
    }
    std::size_t size_left() const { return left_.size(); }

  private:
    std::string_view left_;
};

}  // namespace gradcoll
