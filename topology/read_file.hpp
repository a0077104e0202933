// topology/read_file.hpp - the files that describe machines, hosts and switches, as they are.
#pragma once

#include <string>

#include "base/status.hpp"

namespace gradcoll {

/// A whole file, at most 256 MiB. Errors: io naming the file and the system's reason.
Result<std::string> read_file(const std::string& path);

}  // namespace gradcoll
