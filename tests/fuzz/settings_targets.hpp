// fuzz/settings_targets.hpp - every parser of settings, fed with any bytes, and what must hold of
// the answer. A promise that is broken ends the process with a message.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gradcoll::fuzz {

struct Target {
    std::string_view name;
    /// Whether the text was accepted.
    bool (*run)(std::string_view text);
    std::span<const std::string_view> seeds;  ///< texts to begin with, most of them accepted
};
std::span<const Target> settings_targets();

/// Names the target, the text and the broken promise on stderr, and aborts.
[[noreturn]] void broken(std::string_view promise, std::string_view text);

}  // namespace gradcoll::fuzz
