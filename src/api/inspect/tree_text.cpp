#include "api/inspect/tree_text.hpp"

#include <fmt/format.h>

#include "topology/draw/draw.hpp"
#include "topology/text.hpp"

namespace gradcoll {

Result<std::string> tree_text(const DiscoveredTree& tree, GC_Tree_format format) {
    switch (format) {
        case GC_TREE_TEXT:
            return draw_text(tree.tree);
        case GC_TREE_JSON:
            return json_of(tree.tree);
        case GC_TREE_DOT:
            return draw_dot(tree.tree);
        case GC_TREE_EXPRESSION:
            return expression_of(tree.tree);
        case GC_TREE_ORIGIN:
            return told_origin(tree);
    }
    return Status(Code::invalid_argument,
                  fmt::format("format is {}; allowed are GC_TREE_TEXT, GC_TREE_JSON, "
                              "GC_TREE_DOT, GC_TREE_EXPRESSION, GC_TREE_ORIGIN",
                              static_cast<int>(format)));
}

}  // namespace gradcoll
