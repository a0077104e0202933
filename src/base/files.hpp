// base/files.hpp - files, read and written whole. Their names come from people and lead through
// folders that others may write to: what is no plain file is not waited for, not replaced, and
// links of others are not followed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace gradcoll {

/// Longer files are taken for a mistake.
inline constexpr std::size_t largest_file_bytes = std::size_t{256} << 20;

/// Returns what a regular file holds. Errors: io, with the reason alone: the system's, that it is
/// longer than `most_bytes`, or what it is instead of a file (to open a FIFO may last for ever).
Result<std::string> bytes_of_file(const std::string& path, std::size_t most_bytes);

/// Returns what a file of at most largest_file_bytes holds; the message of an error names the file.
Result<std::string> read_file(const std::string& path);

/// A TextSink takes the next piece of a file.
using TextSink = std::function<void(std::string_view)>;

/// Writes what `produce` hands to its sink to a new file beside `path`, of a name that nobody can
/// foresee, and renames it: readers see the old file or the new one. One that was there hands on
/// its mode, and its owner and group as far as this process may set them; one that this process may
/// not write stays. A symbolic link of this user or of root is kept, and its target written. Where
/// `path` is what stdout or stderr are connected to, or a character device, the text goes there.
/// All else (folders, FIFOs, sockets, disks, links of other users) is refused.
/// Errors: io, naming path and reason; then nothing is left behind.
Status write_file(const std::string& path, const std::function<void(const TextSink&)>& produce);
Status write_file(const std::string& path, std::string_view text);

}  // namespace gradcoll
