// base/signal_text.hpp - text that a signal handler makes: no memory, no locks, no locale.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gradcoll {

/// A SignalText has room for some lines; what does not fit is left out.
class SignalText {
  public:
    SignalText& add(std::string_view text) {
        const std::size_t fits = std::min(text.size(), bytes_.size() - size_);
        std::copy_n(text.begin(), fits, bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
        size_ += fits;
        return *this;
    }
    SignalText& add(std::uint64_t number) {
        std::array<char, 20> digits{};
        auto first = digits.end();
        do {
            *--first = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number > 0);
        return add({first, digits.end()});
    }
    /// Adds a time such as "12.4 s".
    SignalText& add_seconds(std::uint64_t ns) {
        const std::uint64_t tenths = ns / 100'000'000;
        return add(tenths / 10).add(".").add(tenths % 10).add(" s");
    }
    std::string_view view() const { return {bytes_.data(), size_}; }
    void clear() { size_ = 0; }

  private:
    std::array<char, 3072> bytes_{};
    std::size_t size_ = 0;
};

}  // namespace gradcoll
