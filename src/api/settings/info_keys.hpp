// api/settings/info_keys.hpp - settings in MPI info objects.
#pragma once

#include "api/settings/settings.hpp"
#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// Takes every gc_* key (in the order of the table of settings: a schedule wins over a codec that
/// stands beside it)
///  of `info`; other keys are ignored; MPI_INFO_NULL holds nothing. Errors:
/// invalid_argument for a gc_* key that is no setting.
Status add_info(MPI_Info info, SettingsText& text);

}  // namespace gradcoll
