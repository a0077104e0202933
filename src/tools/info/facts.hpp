// info/facts.hpp - what the library is and can do, hints, and the settings of this process.
// Needs no MPI.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gradcoll/inspect.h"

namespace gradcoll::info {

std::string overview_text();
std::string overview_json();

/// Returns one sentence for each hint; the oddest come first.
std::vector<std::string> hints();

/// Returns the settings whose variable or info key fits the pattern: with or without GC_, in any
/// case, with * and ? as wildcards. Throws Refused (MPI_ERR_ARG) with the nearest name if there is
/// none.
std::vector<GC_Setting> matching_settings(const std::string& pattern);

/// Returns a block for each setting, and what is ignored.
std::string settings_text(const std::vector<GC_Setting>& rows);
std::string settings_json(const std::vector<GC_Setting>& rows);

/// Returns a line for each variable or line that is ignored, and why.
std::string ignored_text();

/// Returns a sentence on names of the MPI library for intercepted calls that the interposer does
/// not know; empty if there are none, or if there is no interposer: preloaded, or installed beside
/// libgradcoll. Names of Fortran are among them where its library is in this process.
std::string uncovered_names_hint();

/// Returns some lines on the NIC agent of this host and user: whether it runs, and its state.
std::string nic_agent_text();
/// Returns the same as `gc_nicd --status` prints it; without an agent an object that says why.
nlohmann::ordered_json nic_agent_json();

}  // namespace gradcoll::info
