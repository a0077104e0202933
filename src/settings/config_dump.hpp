// settings/config_dump.hpp - what GC_DUMP_CONFIG=1 prints: every setting, its value, and where
// that came from.
#pragma once

#include <string>

#include "base/option_set.hpp"

namespace gradcoll {

/// Returns a line `NAME = VALUE # PLACE` for every setting, in columns. Read as a configuration
/// file it says the same, except for values with bytes that cannot be printed.
std::string config_table(const OptionSet& settings);
/// Returns the table of checked_options().
std::string config_table();

/// Prints the table to stderr, once per process, if GC_DUMP_CONFIG is on and this is rank 0. Thread
/// safe.
void dump_config_once(int world_rank);

}  // namespace gradcoll
