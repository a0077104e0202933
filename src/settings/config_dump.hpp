// settings/config_dump.hpp - what GC_DUMP_CONFIG=1 prints: every setting, its value, and where
// that came from.
#pragma once

#include <string>

#include "base/option_set.hpp"

namespace gradcoll {

/// A line `NAME = VALUE # PLACE` for every setting, in columns; reads as a configuration file that
/// says the same (values with bytes that cannot be printed excepted).
std::string config_table(const OptionSet& settings);
/// That of checked_options().
std::string config_table();

/// If GC_DUMP_CONFIG is on and this is rank 0: prints the table to stderr, once per process. Thread
/// safe.
void dump_config_once(int world_rank);

}  // namespace gradcoll
