// topology/sources/job/whole_sources.hpp - whole trees that somebody wrote down. For the table of
// sources alone.
#pragma once

#include "topology/files.hpp"
#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// All ranks below one vertex.
MakeTreeSource flat_source;

/// An expression, or the path of a JSON file. Their ranks are those of MPI_COMM_WORLD; the tree is
/// pruned to the job.
MakeTreeSource expression_source;
MakeTreeSource json_source;
bool holds_json_tree(const PathContent& content);

}  // namespace gradcoll
