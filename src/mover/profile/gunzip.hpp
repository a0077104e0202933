// mover/profile/gunzip.hpp - unpacks the text of a file that may be compressed with gzip.
#pragma once

#include <string>

#include "base/status.hpp"

namespace gradcoll::mover {

/// Returns `bytes` themselves, or what they were before gzip. Errors: invalid_argument for a
/// damaged file or one of more than `most` bytes; the message is the reason alone.
Result<std::string> unpacked(std::string bytes, std::size_t most);

}  // namespace gradcoll::mover
