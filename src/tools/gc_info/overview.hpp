// gc_info/overview.hpp - what the library is and can do, and what deserves a second look. No MPI
// needed.
#pragma once

#include <string>
#include <vector>

namespace gc_info {

std::string overview_text();
std::string overview_json();

/// One sentence each; what is odd comes first.
std::vector<std::string> hints();

}  // namespace gc_info
