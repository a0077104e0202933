// call/anywhere/integer_reduction.hpp - reductions of floats by way of integers, which give the
// same bits in whatever order they are combined (gc_reproducible=anywhere; docs/reproducible.md).
#pragma once

#include <functional>

#include "mpi/request.hpp"
#include "settings/settings.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Returns whether gc_reproducible=anywhere says how the reduction is made: one of floats.
inline bool is_same_anywhere(const Settings& settings, const CallShape& shape) {
    return settings.anywhere && is_floating(shape.type) && shape.kind != 0;
}
/// Checks that the setting can be kept for a reduction of that shape. `reason` is why it has no
/// kernel, if it has none. Errors: unsupported, saying what is allowed. The answer is the same on
/// all ranks.
Status check_same_anywhere(const CallShape& shape, PassReason reason, MPI_Op op, int rank_count);

/// Returns the error of a call that is not made so: none but blocking ones are, and sums of which
/// reducer_at_once() says how.
Status only_blocking_anywhere();

/// Returns what combines all contributions of such a reduction at once, if the route is the memory
/// of one host; else an empty reducer. It is the same on all ranks.
Reducer reducer_at_once(CommContext& context, const Route& route, const CallShape& shape);

/// An IntegerStep is an allreduce in place of integers.
struct IntegerStep {
    void* data = nullptr;
    MPI_Count count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
};
using RunIntegerStep = std::function<Status(const IntegerStep& step)>;

/// Reduces a vector in host memory. `input` and `output` have the elements of `shape`, and may be
/// the same. `run` makes each step, with all ranks. Errors: those of the steps; out_of_memory,
/// after which this rank has made no step, and refuse_in_integers() tells the others.
Status reduce_in_integers(const CallShape& shape, const void* input, void* output,
                          const RunIntegerStep& run);
/// Makes the first step of such a reduction on a rank that takes no part: `run` refuses it.
void refuse_in_integers(const CallShape& shape, const RunIntegerStep& run);

}  // namespace gradcoll
