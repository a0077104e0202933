// fabric/formats.hpp - the text formats of a fabric, and how to tell which one a text has.
// A format is a folder below this one, or outside the project: the kind fabric_format of
// scripts/cmake/GradcollExtensions.cmake.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "fabric/fabric.hpp"

namespace gradcoll {

/// A FabricFormat reads one format. A member NAME of the kind fabric_format defines
///     FabricFormat NAME_fabric_format();
/// in this namespace. No two formats that are not `vague` accept the same line.
struct FabricFormat {
    std::string_view name;    ///< for people: "topology.conf", in the origin of a tree
    std::string_view family;  ///< as in "switches from SLURM, InfiniBand ... files"; may be shared
    std::string_view listed;  ///< in a list of what a file may hold; empty: the one before says it

    /// Returns whether a line that is neither empty nor a comment can only be of this format.
    bool (*is_line)(std::string_view line);
    /// Reads `text`, which is not trusted. Errors: invalid_argument naming the line, what was found
    /// and what is allowed.
    Result<Fabric> (*read)(std::string_view text);
    bool vague = false;  ///< its lines may look like those of other formats: it is tried after them
};

/// Returns all formats. Thread safe.
const std::vector<FabricFormat>& fabric_formats();

/// Returns the format, which the text's first two significant lines tell; null if it is none of
/// them.
const FabricFormat* fabric_format_of(std::string_view text);

}  // namespace gradcoll
