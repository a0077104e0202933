// report/output_file.hpp - the files that a process writes: names that differ by host, process and
// rank; there whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// What a pattern's places are filled with.
struct PatternFacts {
    std::string host;             ///< %h; a slash in it becomes an underscore
    std::int64_t process_id = 0;  ///< %p
    int rank = 0;                 ///< %r
};

struct ExpandedPattern {
    std::string path;
    bool has_rank = false;                ///< it has %r: every rank has a file of its own
    bool has_process = false;             ///< the same for %p
    std::vector<std::string> complaints;  ///< one sentence for every %x that means nothing
};

/// %h, %p, %r and %% (one percent sign). Any other %x stays as it is and is complained about.
ExpandedPattern expand_pattern(std::string_view pattern, const PatternFacts& facts);

/// The pattern, with ".r%r" put in front of the extension if it has no %r: "trace.json" ->
/// "trace.r%r.json".
std::string with_rank(std::string_view pattern);

/// Takes the next piece of a file.
using TextSink = std::function<void(std::string_view)>;

/// Writes what `produce` hands to its sink to a temporary file beside `path` and renames it:
/// readers see the old file or the new one. Errors: io, naming path and reason; then nothing is
/// left behind.
Status write_file(const std::string& path, const std::function<void(const TextSink&)>& produce);
Status write_file(const std::string& path, std::string_view text);

}  // namespace gradcoll
