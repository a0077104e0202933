// gc_info/settings.hpp - the settings of this process. No MPI needed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gradcoll/inspect.h"

namespace gc_info {

/// Those whose variable or info key fits the pattern: with or without GC_, in any case, * and ?
/// stand for letters. Throws Refused (MPI_ERR_ARG) with the nearest name if there is none.
std::vector<GC_Setting> matching_settings(const std::string& pattern);

/// "default", "environment", "config file run.conf:3"
std::string source_text(const GC_Setting& setting);

/// A line for everything that does not count, and why.
std::string ignored_text();

/// A block for each setting, and what is ignored.
std::string settings_text(const std::vector<GC_Setting>& rows);
std::string settings_json(const std::vector<GC_Setting>& rows);

}  // namespace gc_info
