// topology/probe/cache.hpp - stores what was measured in a file that the next run can use.
#pragma once

#include <string>
#include <string_view>

#include "fabric/switch_tree.hpp"

namespace gradcoll {

/// Writes {"gradcoll_probe": 1, "by_rank": false, "notes": [...], "switches": [...], "hosts":
/// {...}} as topology/probe/README.md describes. Hosts are in the order of their names, so that
/// equal trees give equal texts.
std::string probe_cache_text(const SwitchTree& switches);

/// Returns whether the text claims to be a probe cache (of any version), however damaged it is.
/// Reads the first 4096 bytes.
bool is_probe_cache(std::string_view text);

/// Reads a cache. `text` is not trusted. Errors: invalid_argument with the place, what was found
/// and what is allowed.
Result<SwitchTree> switches_from_probe_cache(std::string_view text);

}  // namespace gradcoll
