// base/options.hpp - the settings of this process: the environment, the file that GC_CONFIG_FILE
// names, the defaults. Both are read once; options.cpp is the only file of the library that looks
// at the environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/option_set.hpp"

namespace gradcoll {

/// Returns whether whoever started this process may do all that it may: it has no rights of its
/// file's own (setuid, setgid, capabilities). Otherwise they choose neither files nor code for it:
/// nothing of the environment counts.
bool is_plain_process();

/// Checks that `text` is a value, for options whose row has a check: those that hold for the whole
/// process and are understood down here (GC_LOG, GC_CPU, GC_YIELD, ...). All others pass.
Status check_process_option(OptionId id, std::string_view text);

/// Returns the values of this process, read at the first call, whichever thread makes it; those
/// that check_process_option knows are allowed. Values that only src/api understands may still be
/// broken: see checked_options(). Thread safe.
const OptionSet& options_of_process();
const std::string& option_text(OptionId id);

/// Returns the complaints of `set` (about one option, or all) that nobody in this process has asked
/// for yet. Thread safe.
std::vector<std::string> unlogged_complaints(const OptionSet& set, std::optional<OptionId> only);

/// Returns a variable that is no setting of ours, such as a scheduler's. It is empty if it is not
/// set. Not thread safe against setenv().
std::string foreign_variable(const char* name);

}  // namespace gradcoll
