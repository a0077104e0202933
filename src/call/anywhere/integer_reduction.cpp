#include "call/anywhere/integer_reduction.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "base/failure.hpp"
#include "reduce/grid.hpp"
#include "reduce/ordered_keys.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {
namespace {

Status cannot_keep(const std::string& what) {
    return {Code::unsupported,
            fmt::format("gc_reproducible=anywhere: {}; allowed are sums, MPI_MIN and MPI_MAX of "
                        "fp16, bf16, fp32, fp64 and complex numbers of them, and what adds no "
                        "floats",
                        what)};
}

bool is_of_two_values(MPI_Op op) {
    return op == MPI_MINLOC || op == MPI_MAXLOC;
}

MPI_Datatype integer_of(std::size_t bytes) {
    if (bytes == 2) return MPI_INT16_T;
    return bytes == 4 ? MPI_INT32_T : MPI_INT64_T;
}

/// Lets all ranks know whether one of them has found its sum wrong. Errors: that of this rank, or
/// what others hear of it.
Status agree_on_sum(const Status& mine, int rank, const RunIntegerStep& run) {
    constexpr std::int64_t nobody = -1;
    std::int64_t finder = mine.ok() ? nobody : rank;
    GRADCOLL_TRY(run({&finder, 1, MPI_INT64_T, MPI_MAX}));
    if (!mine.ok() || finder == nobody) return mine;
    return told({static_cast<int>(finder), Code::corrupt});
}

Status sum_on_grid(const CallShape& shape, const Binding& binding, ScratchPool& scratch,
                   const RunIntegerStep& run, const CheckedRanks& checked) {
    GridSum sum = GRADCOLL_VALUE(GridSum::make(shape, binding, scratch, checked.count));
    GRADCOLL_TRY(run(sum.tops()));
    const IntegerStep specials = sum.specials(GridSum::SpecialsLie::packed);
    if (specials.count > 0) GRADCOLL_TRY(run(specials));
    GRADCOLL_TRY(run(sum.words()));
    if (checked.count > 0) GRADCOLL_TRY(agree_on_sum(sum.check(), checked.rank, run));
    sum.finish();
    return {};
}

}  // namespace

Status check_kept_anywhere(const CallShape& shape, PassReason reason, int contributions) {
    if (reason != PassReason::none || shape.by_mpi())
        return cannot_keep(
            "datatype is derived or has no kernels here, or op is user-defined or has none");
    if (!is_floating(shape.type)) return {};
    if (contributions > most_grid_contributions)
        return cannot_keep(
            fmt::format("{} contributions, more than {}", contributions, most_grid_contributions));
    const bool is_known =
        shape.op == ReduceOp::sum || shape.op == ReduceOp::min || shape.op == ReduceOp::max;
    return is_known
               ? Status()
               : cannot_keep(fmt::format("op is {} of {}", name_of(shape.op), name_of(shape.type)));
}

Status check_same_anywhere(const CallShape& shape, PassReason reason, MPI_Op op, int rank_count) {
    if (reason == PassReason::intercommunicator) return cannot_keep("comm is an intercommunicator");
    if (reason == PassReason::unequal_blocks) return cannot_keep("recvcounts differ");
    const bool is_others = reason != PassReason::none || shape.by_mpi();
    if (is_others && is_of_two_values(op)) return {};
    return check_kept_anywhere(shape, reason, rank_count);
}

Status without_residual_anywhere() {
    return {Code::unsupported,
            "gc_reproducible=anywhere goes without a residual, which keeps what rounding drops"};
}

Status refused_anywhere(PassReason reason) {
    const char* const remedy =
        reason == PassReason::not_attached ? ", which a blocking call does, or GC_Comm_attach" : "";
    return {Code::unsupported,
            fmt::format("gc_reproducible=anywhere: {}{}", text_of(reason), remedy)};
}

Reducer reducer_at_once(CommContext& context, const Route& route, const CallShape& shape) {
    if (shape.op != ReduceOp::sum || !route.goes(one_host_way()) || route.passes()) return {};
    const Reducer reducer = grid_reducer(shape.type);
    return context.one_host().takes(reducer) ? reducer : Reducer();
}

Status reduce_in_integers(const CallShape& shape, const Binding& binding, ScratchPool& scratch,
                          const RunIntegerStep& run, const CheckedRanks& checked) {
    if (shape.op == ReduceOp::sum) return sum_on_grid(shape, binding, scratch, run, checked);
    const auto count = static_cast<std::size_t>(shape.count);
    void* const output = binding.output;
    if (binding.input != output) std::memcpy(output, binding.input, shape.size_bytes());
    to_ordered_keys(shape.type, shape.op, output, count);
    GRADCOLL_TRY(run({output, shape.count, integer_of(shape.elem_bytes),
                      shape.op == ReduceOp::min ? MPI_MIN : MPI_MAX}));
    from_ordered_keys(shape.type, shape.op, output, count);
    return {};
}

Status fill(const IntegerStep& step) {
    if (step.maker != nullptr && step.count > 0)
        step.maker->fill(0, static_cast<std::size_t>(step.count));
    return {};
}

void refuse_in_integers(const CallShape& shape, const RunIntegerStep& run) {
    std::vector<GridTop> tops;
    std::vector<std::byte> keys;
    if (shape.op == ReduceOp::sum) {
        tops.resize(grid_blocks(static_cast<std::size_t>(shape.count)));
        (void)run(GridSum::tops_in(tops));
        return;
    }
    keys.resize(shape.size_bytes());
    (void)run({keys.data(), shape.count, integer_of(shape.elem_bytes),
               shape.op == ReduceOp::min ? MPI_MIN : MPI_MAX});
}

}  // namespace gradcoll
