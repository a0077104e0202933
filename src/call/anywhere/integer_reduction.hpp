// call/anywhere/integer_reduction.hpp - reductions of floats by way of integers, which give the
// same bits in whatever order they are combined (gc_reproducible=anywhere; docs/reproducible.md).
#pragma once

#include <functional>

#include "call/anywhere/grid_sum.hpp"
#include "mpi/request.hpp"
#include "settings/settings.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Returns whether gc_reproducible=anywhere says how the reduction is made: one of floats.
inline bool is_same_anywhere(const Settings& settings, const CallShape& shape) {
    return settings.anywhere && is_floating(shape.type) && shape.kind != 0;
}
/// Checks that sums of so many contributions, minima or maxima can be the same anywhere. Errors:
/// those of check_same_anywhere().
Status check_kept_anywhere(const CallShape& shape, PassReason reason, int contributions);
/// Checks that the setting can be kept for a reduction of that shape. `reason` is why it has no
/// kernel, if it has none. Errors: unsupported, saying what is allowed. The answer is the same on
/// all ranks.
Status check_same_anywhere(const CallShape& shape, PassReason reason, MPI_Op op, int rank_count);

/// Returns the error of a call with a residual, of which nothing is the same anywhere.
Status without_residual_anywhere();
/// Returns the error of a call that would pass to the MPI library for that reason.
Status refused_anywhere(PassReason reason);

/// Returns what combines all contributions of such a reduction at once, if the route is the memory
/// of one host; else an empty reducer. It is the same on all ranks.
Reducer reducer_at_once(CommContext& context, const Route& route, const CallShape& shape);

/// CheckedRanks are those of a checked sum (gc_check=sum).
struct CheckedRanks {
    int rank = 0;
    int count = 0;  ///< 0: it is not checked
};

using RunIntegerStep = std::function<Status(const IntegerStep& step)>;

/// Reduces a vector in host memory. Input and output of `binding` have the elements of `shape`, and
/// may be the same. `run` makes each step, with all ranks. Integers are in memory of `scratch`.
/// Sums are checked as `checked` says. Errors: those of the steps; corrupt or peer_failed, on all
/// ranks, if a rank has a sum that cannot be right; out_of_memory, after which this rank has made
/// no step, and refuse_in_integers() tells the others.
Status reduce_in_integers(const CallShape& shape, const Binding& binding, ScratchPool& scratch,
                          const RunIntegerStep& run, const CheckedRanks& checked = {});
/// Fills the integers of a step, which are the sums already if a single rank makes it.
Status fill(const IntegerStep& step);
/// Makes the first step of such a reduction on a rank that takes no part: `run` refuses it.
void refuse_in_integers(const CallShape& shape, const RunIntegerStep& run);

}  // namespace gradcoll
