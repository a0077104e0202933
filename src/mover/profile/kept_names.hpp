// mover/profile/kept_names.hpp - what a layer keeps, with names for people.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gradcoll::mover {

using KeptPieces = std::vector<std::pair<std::string, std::int64_t>>;  ///< name and bytes

/// Returns an operator's name without its namespace, if that is PyTorch's own.
std::string name_of_kept(const std::string& name);

/// Makes the names of a layer's pieces unique, the largest first; if there are too many, the
/// smallest are merged into one.
void number_names(KeptPieces& kept);

/// Returns the list in our own form (docs/schemas/mover-model.json).
nlohmann::json json_of_kept(const KeptPieces& kept);

}  // namespace gradcoll::mover
