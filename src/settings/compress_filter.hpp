// settings/compress_filter.hpp - which communicators and which of their calls may be compressed
// (GC_COMPRESS_COMMS, GC_COMPRESS_CALLS). Both are lists of entries; a leading `!` excludes, and
// the last entry that matches decides. What no entry matches is left out, unless the list begins
// with an exclusion: then everything else is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// NameFilter selects names by patterns, which are read as by POSIX fnmatch(3) without escapes: `*`
/// is any bytes or none, `?` any one, `[a-c3]` one of these, `[!a-c3]` one of the others.
/// Immutable; thread safe.
class NameFilter {
  public:
    /// Allows everything.
    NameFilter() = default;

    /// Reads lists such as "*", "ddp*,!ddp_norm*" and "!*_loss". Blanks around entries are ignored;
    /// no pattern holds a comma.
    /// Errors: invalid_argument naming the entry and what is allowed.
    static Result<NameFilter> parse(std::string_view text);

    /// Allocates nothing.
    bool allows(const std::string& name) const;

  private:
    struct Entry {
        bool include = true;
        std::string pattern;
    };
    std::vector<Entry> entries_ = {{true, "*"}};
};

/// CallFilter selects calls by their numbers, which begin with 0. Immutable; thread safe.
class CallFilter {
  public:
    /// Allows every call.
    CallFilter() = default;

    /// Reads "all", or entries A, A-B and A-, each perhaps with /PERIOD, which compares the number
    /// modulo PERIOD: "100-,!3/7" leaves out the first 100 and the fourth of every 7.
    /// Errors: invalid_argument naming the entry and what is allowed; numbers that their period can
    /// never reach are refused, too.
    static Result<CallFilter> parse(std::string_view text);

    /// Allocates nothing.
    bool allows(std::uint64_t call) const;
    /// Returns whether it allows calls whatever their numbers.
    bool allows_all() const { return entries_.size() == 1 && entries_.front() == Entry(); }

  private:
    struct Entry {
        bool include = true;
        std::uint64_t first = 0;
        std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t period = 0;  ///< 0: none
        friend bool operator==(const Entry&, const Entry&) = default;
    };
    static Result<Entry> parse_entry(std::string_view text);

    std::vector<Entry> entries_ = {{}};
};

}  // namespace gradcoll
