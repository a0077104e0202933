// call/anywhere/grid_pieces.hpp - a long sum on a grid whose caller waits: piece by piece over the
// tree of all ranks.
#pragma once

#include "mpi/request.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Returns whether a sum of the shape that goes over the tree of all ranks is made in pieces.
bool goes_in_pieces(const CallShape& shape);

/// Sums a vector in host memory. Several pieces are on their way at a time: the tops of one travel
/// while the words of another do, and what one rank calculates for itself takes place beside both.
/// A rank with a refusal takes no part, and tells the others. The context must have a tree. Errors:
/// those of CommPlans::begin() and GridRun.
Status sum_in_pieces(CommContext& context, const CallShape& shape, const Binding& binding);

}  // namespace gradcoll
