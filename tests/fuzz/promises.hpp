// fuzz/promises.hpp - what must hold for any answer to any text. A broken promise ends the process
// with a message.
#pragma once

#include <string_view>

#include "base/status.hpp"

namespace gradcoll::fuzz {

/// Names the text and the broken promise on stderr, and aborts.
[[noreturn]] void broken(std::string_view promise, std::string_view text);

void must(bool holds, std::string_view promise, std::string_view text);

/// Checks that a message is not empty, is printable, and is short enough for a person.
void must_be_a_message(std::string_view message, std::string_view text);

/// Returns whether the text was accepted; if not, checks that the status says why.
bool accepted(const Status& status, std::string_view text);

/// Returns whether the text has a number from 2049 to 2^20: trees of so many ranks take long to
/// build, and test nothing new.
bool names_many_ranks(std::string_view text);

}  // namespace gradcoll::fuzz
