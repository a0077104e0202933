// report/file_pattern.hpp - names of the files that a process writes: they differ by host, process
// and rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradcoll {

/// PatternFacts are what a pattern's places are filled with.
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

/// Expands %h, %p, %r and %% (one percent sign). Any other %x stays as it is and is complained
/// about.
ExpandedPattern expand_pattern(std::string_view pattern, const PatternFacts& facts);

/// Returns the pattern, with ".r%r" put in front of the extension if it has no %r: "trace.json"
/// becomes "trace.r%r.json".
std::string with_rank(std::string_view pattern);

}  // namespace gradcoll
