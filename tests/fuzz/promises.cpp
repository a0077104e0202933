#include "fuzz/promises.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace gradcoll::fuzz {

void broken(std::string_view promise, std::string_view text) {
    std::string shown;
    for (const char c : text.substr(0, 4000))
        shown += c >= ' ' && c <= '~' && c != '\\'
                     ? std::string(1, c)
                     : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    fmt::print(stderr, "broken promise: {}\ntext of {} bytes: \"{}\"\n", promise, text.size(),
               shown);
    std::abort();
}

void must(bool holds, std::string_view promise, std::string_view text) {
    if (!holds) broken(promise, text);
}

void must_be_a_message(std::string_view message, std::string_view text) {
    constexpr std::size_t longest_message = 2000;
    must(!message.empty(), "a message is not empty", text);
    const bool printable =
        std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (message.size() > longest_message || !printable)
        broken(fmt::format("a message is bounded and printable: {}", message), text);
}

bool accepted(const Status& status, std::string_view text) {
    if (!status.ok()) must_be_a_message(status.message(), text);
    return status.ok();
}

bool names_many_ranks(std::string_view text) {
    constexpr std::int64_t many = 2048, too_many = 1 << 20;
    std::int64_t number = 0;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit && number > many && number <= too_many) return true;
        number = digit ? std::min<std::int64_t>(number * 10 + (c - '0'), too_many + 1) : 0;
    }
    return number > many && number <= too_many;
}

}  // namespace gradcoll::fuzz
