// settings/info_keys.hpp - settings in MPI info objects: the keys that begin with gc_.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "settings/settings.hpp"

namespace gradcoll {

/// Returns the gc_* keys of `info`, in its order; MPI_INFO_NULL has none. Errors: transport.
Result<std::vector<std::string>> gc_keys_of(MPI_Info info);

/// Returns the value of a key; nothing if `info` is MPI_INFO_NULL or has no such key. Errors:
/// transport.
Result<std::optional<std::string>> info_value(MPI_Info info, const std::string& key);

/// Takes every gc_* key of `info`; other keys are ignored. Errors: invalid_argument for a gc_* key
/// that is no setting, and what SettingsText::say() says.
Status add_info(MPI_Info info, SettingsText& text);

}  // namespace gradcoll
