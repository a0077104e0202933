// topology/sources/cluster/file_sources.hpp - switches from files.
#pragma once

#include <string>

#include "topology/fabric/fabric.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// `where` the fabric is from, for errors.
Result<Switches> switches_of(const Result<Fabric>& fabric, const std::string& where,
                             const std::string& origin);

/// Errors: io; invalid_argument naming the file.
Result<Switches> switches_from_file(const std::string& path);
Result<Switches> switches_from_cache(const std::string& path);

}  // namespace gradcoll
