// fuzz/promises.hpp - what must hold of any answer to any text. A promise that is broken ends the
// process with a message.
#pragma once

#include <string_view>

#include "base/status.hpp"

namespace gradcoll::fuzz {

/// Names the text and the broken promise on stderr, and aborts.
[[noreturn]] void broken(std::string_view promise, std::string_view text);

void must(bool holds, std::string_view promise, std::string_view text);

/// Not empty, printable, and of a length that a person reads.
void must_be_a_message(std::string_view message, std::string_view text);

/// Whether the text was accepted; if not, that it says why.
bool accepted(const Status& status, std::string_view text);

/// Whether a number from 2049 to 2^20 stands there: trees of so many ranks take long to build, and
/// say nothing new.
bool names_many_ranks(std::string_view text);

}  // namespace gradcoll::fuzz
