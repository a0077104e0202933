// api/inspect/tree_text.hpp - a tree in each form that the C API writes.
#pragma once

#include <string>

#include "base/status.hpp"
#include "gradcoll/inspect.h"
#include "topology/sources/job/discover.hpp"

namespace gradcoll {

/// Errors: invalid_argument for a format that does not exist.
Result<std::string> tree_text(const DiscoveredTree& tree, GC_Tree_format format);

}  // namespace gradcoll
