// Picks the kernel for a call.
#include "reduce/reducer.hpp"

#include "instruction_sets.hpp"
#include "reduce/kernels.hpp"

namespace gradcoll {

const KernelTable& kernels_of(InstructionSet set) {
    static constexpr const KernelTable& (*tables[])() = {GRADCOLL_OF_SETS(kernel_table)};
    return tables[static_cast<std::size_t>(set)]();
}

Reducer reducer_for(ReduceOp op, ElementType type, InstructionSet set) {
    if (type == ElementType::opaque) return {};
    const auto row = static_cast<std::size_t>(op);
    const auto column = static_cast<std::size_t>(type);
    const KernelTable& table = kernels_of(set);
    const ReduceFunction function = table.function[row][column];
    if (function == nullptr) return {};
    const auto many = op == ReduceOp::sum ? table.sum_of_many[column] : nullptr;
    return {function, nullptr, element_bytes(type), many};
}

Reducer reducer_for(ReduceOp op, ElementType type) {
    return reducer_for(op, type, best_instruction_set());
}

}  // namespace gradcoll
