// base/config_file.hpp - a file of settings: lines `NAME = VALUE`, `#` begins a comment.
//
// NAME is the variable (GC_COMPRESS_BYTES) or the info key (gc_compress_bytes), with or without
// "gc_", in any case. A VALUE may stand in "double" or 'single' quotes, inside which `#` is a
// letter; outside,
// `#` begins a comment at the start of the line or after a blank. Lines may end in CR LF, the file
// may begin with a UTF-8 byte order mark. What cannot be read is left out with a complaint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/option_table.hpp"

namespace gradcoll {

/// A larger file is not read at all; a longer line is left out.
inline constexpr std::size_t largest_config_bytes = std::size_t{1} << 20;
inline constexpr std::size_t longest_config_line = std::size_t{64} << 10;

struct ConfigEntry {
    OptionId option;
    std::string text;  ///< without quotes and comment; whether it is allowed is not known yet
    int line = 0;      ///< from 1
};

struct ConfigFile {
    std::string name;                     ///< printable, for messages
    std::vector<ConfigEntry> entries;     ///< at most one an option: the last line counts
    std::vector<std::string> complaints;  ///< "FILE:LINE: ...", the first ones if there are many
    /// This is set if something that is left out may limit what sums lose
    /// (OptionInfo::limits_loss).
    bool may_limit_loss = false;
};

/// Parses a text; never fails. Thread safe.
ConfigFile parse_config(std::string_view text, std::string_view name);

/// Parses a file; what is no readable regular file is a complaint.
ConfigFile read_config_file(const std::string& path);

}  // namespace gradcoll
