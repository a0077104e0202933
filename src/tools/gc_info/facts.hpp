// gc_info/facts.hpp - what the library is and can do, what deserves a second look, and the settings
// of this process. No MPI needed.
#pragma once

#include <string>
#include <vector>

#include "gradcoll/inspect.h"

namespace gc_info {

std::string overview_text();
std::string overview_json();

/// One sentence each; what is odd comes first.
std::vector<std::string> hints();

/// Those whose variable or info key fits the pattern: with or without GC_, in any case, * and ?
/// stand for letters. Throws Refused (MPI_ERR_ARG) with the nearest name if there is none.
std::vector<GC_Setting> matching_settings(const std::string& pattern);

/// A block for each setting, and what is ignored.
std::string settings_text(const std::vector<GC_Setting>& rows);
std::string settings_json(const std::vector<GC_Setting>& rows);

/// A line for everything that does not count, and why.
std::string ignored_text();

}  // namespace gc_info
