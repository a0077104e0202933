// topology/fabric/formats.hpp - the texts that a fabric can be read from, and which one a text is.
// A format is a folder below this one, or outside the project: the kind fabric_format of
// scripts/cmake/GradcollExtensions.cmake.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/fabric.hpp"

namespace gradcoll {

/// A member NAME of the kind fabric_format defines
///     FabricFormat NAME_fabric_format();
/// which lives in this namespace. No two formats that are not `vague` take the same line.
struct FabricFormat {
    std::string_view name;    ///< for people: "topology.conf", in the origin of a tree
    std::string_view family;  ///< in "switches from SLURM, InfiniBand ... files"; several may share
    std::string_view listed;  ///< in a list of what a file may hold; empty: the one before says it

    /// Whether a line that is neither empty nor a comment can only be of this format.
    bool (*is_line)(std::string_view line);
    /// `text` is not trusted. Errors: invalid_argument naming the line, what was found and what is
    /// allowed.
    Result<Fabric> (*read)(std::string_view text);
    bool vague = false;  ///< its lines look like those of others, too: it is asked after them
};

/// All of them. Thread safe.
const std::vector<FabricFormat>& fabric_formats();

/// Told by the text's first two lines that say something; null if it is none of them.
const FabricFormat* fabric_format_of(std::string_view text);

}  // namespace gradcoll
