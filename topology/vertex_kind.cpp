// topology/vertex_kind.cpp - the names of the vertex kinds, as they are written in expressions,
// JSON and drawings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

namespace {

// In the order of the enum.
constexpr std::array<std::string_view, 10> kind_names{
    "rank", "core", "cache", "numa", "package", "bridge", "gpu", "host", "switch", "group"};
static_assert(kind_names.size() == static_cast<std::size_t>(VertexKind::group) + 1);

}  // namespace

std::string_view name_of(VertexKind kind) {
    return kind_names[static_cast<std::size_t>(kind)];
}

Result<VertexKind> vertex_kind_from(std::string_view name) {
    const auto found = std::find(kind_names.begin(), kind_names.end(), name);
    if (found == kind_names.end())
        return Status(Code::invalid_argument,
                      fmt::format("\"{}\" is no vertex kind: allowed are {}", printable(name),
                                  fmt::join(kind_names, ", ")));
    return static_cast<VertexKind>(found - kind_names.begin());
}

}  // namespace gradcoll
