// api/inspect/process_facts.hpp - facts of the process as C structs with texts that stay. Each is
// made at the first question and never destroyed: questions may still come while the process
// leaves.
#pragma once

#include <vector>

#include "gradcoll/inspect.h"

namespace gradcoll {

/// The three functions return the same answer every time. All are thread safe.
const std::vector<GC_Setting>& settings_told();
const GC_Build& build_told();
/// Returns null for a list that does not exist.
const std::vector<GC_List_entry>* list_told(GC_List list);

}  // namespace gradcoll
