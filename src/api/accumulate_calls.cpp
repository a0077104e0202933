// GC_Accumulate.
#include <fmt/format.h>

#include <span>

#include "call/anywhere/integer_reduction.hpp"
#include "gradcoll/collectives.h"
#include "mpi/boundary.hpp"
#include "mpi/request.hpp"
#include "reduce/grid.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {
namespace {

/// Contributions are the arguments of the call.
struct Contributions {
    std::span<const void* const> inputs;
    void* output;
    CallShape shape;
};

Status check_buffers(const Contributions& all) {
    const auto bytes = static_cast<std::size_t>(all.shape.size_bytes());
    int memory = host_memory;
    GRADCOLL_TRY(locate({"output", all.output, bytes}, Reach::host, memory));
    for (const void* const input : all.inputs) {
        GRADCOLL_TRY(locate({"an input", input, bytes}, Reach::host, memory));
        if (input != all.output)
            GRADCOLL_TRY(
                check_disjoint({{"an input", input, bytes}, {"output", all.output, bytes}}));
    }
    return {};
}

/// Sums of floats are made on the grid. What else is allowed is the same in any order.
Reducer reducer_of(const CallShape& shape) {
    const bool on_grid = is_floating(shape.type) && shape.op == ReduceOp::sum;
    return on_grid ? grid_reducer(shape.type) : shape.reducer;
}

Status accumulate(const Contributions& all) {
    GRADCOLL_TRY(check_buffers(all));
    // A minimum of one has the NaN of many.
    const void* const twice[] = {all.inputs.front(), all.inputs.front()};
    const bool is_extreme = all.shape.op == ReduceOp::min || all.shape.op == ReduceOp::max;
    const auto sources =
        is_extreme && all.inputs.size() == 1 ? std::span<const void* const>(twice) : all.inputs;
    reduce_many(reducer_of(all.shape), sources, all.output,
                static_cast<std::size_t>(all.shape.count), false);
    return {};
}

Status check_inputs(const void* const* inputs, int input_count) {
    if (input_count < 1 || input_count > most_grid_contributions)
        return {Code::invalid_argument, fmt::format("input_count is {}; allowed: 1 to {}",
                                                    input_count, most_grid_contributions)};
    if (inputs == nullptr) return {Code::invalid_argument, "inputs is a null pointer"};
    return {};
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Accumulate(const void* const inputs[], int input_count, void* output,
                             MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
    return at_boundary(MPI_COMM_SELF, "GC_Accumulate", [&]() -> Outcome {
        GRADCOLL_TRY(check_inputs(inputs, input_count));
        GRADCOLL_TRY(check_count("count", count));
        GRADCOLL_TRY(check_datatype("datatype", datatype));
        GRADCOLL_TRY(check_op(op));
        const auto [shape, reason] = classify(count, datatype, op);
        GRADCOLL_TRY(check_kept_anywhere(shape, reason, input_count));
        if (count == 0) return Status();
        return accumulate({{inputs, static_cast<std::size_t>(input_count)}, output, shape});
    });
}
