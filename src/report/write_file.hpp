// report/write_file.hpp - files that are there whole or not at all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace gradcoll {

/// Takes the next piece of a file.
using TextSink = std::function<void(std::string_view)>;

/// Writes what `produce` hands to its sink to a temporary file beside `path` and renames it:
/// readers see the old file or the new one. Errors: io, naming path and reason; then nothing is
/// left behind.
Status write_file(const std::string& path, const std::function<void(const TextSink&)>& produce);
Status write_file(const std::string& path, std::string_view text);

}  // namespace gradcoll
