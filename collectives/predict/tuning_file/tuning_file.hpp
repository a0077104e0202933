// collectives/predict/tuning_file/tuning_file.hpp - reads and writes a tuning as JSON text
// (docs/tuning.md), which GC_TUNING_FILE names, scripts/tune writes and gradcoll plan --tuning
// reads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "collectives/predict/tuning.hpp"

namespace gradcoll {

/// A larger file is not read at all.
inline constexpr std::size_t largest_tuning_bytes = std::size_t{1} << 20;

/// Reads a tuning. Keys that are missing keep the shipped figures. The text is not trusted;
/// `source` is for messages. Errors: invalid_argument naming the source, the key, the value and
/// what is allowed.
Result<Tuning> tuning_from(std::string_view text, std::string_view source);

/// Returns the text of a regular file that is not too large. Errors: io, naming the file.
Result<std::string> read_tuning_text(const std::string& path);

/// Reads the file and the tuning in it. Errors: those of both.
Result<Tuning> read_tuning(const std::string& path);

/// Writes every figure, so that tuning_from() gives the same tuning. `about` is a note for people,
/// kept under "about" if not empty.
std::string text_of(const Tuning& tuning, std::string_view about = {});

}  // namespace gradcoll
