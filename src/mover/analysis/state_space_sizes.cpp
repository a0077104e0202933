// mover/analysis/state_space_sizes.cpp - what a state space keeps: what its fused kernel has for
// backward (mamba_ssm's split_conv1d_scan_combined). States are computed again.
#include <algorithm>

#include "mover/analysis/part_sizes.hpp"

namespace gradcoll::mover {

void add_body(const StepSizes& step, const StateSpace& states, PartSizes& out) {
    const std::int64_t hidden = step.model.hidden;
    const std::int64_t shared = size_product({states.groups, states.state_size});
    const std::int64_t convolved = states.width + 2 * shared;
    const std::int64_t projected = states.width + convolved + states.heads;
    out.keep("states.in", hidden, Split::along_sequence);
    out.product(hidden, projected, states.in_bias, Matrix::split_outputs);
    out.keep("projected", projected, Split::by_tensor);
    out.learn(size_product({convolved, states.convolved + (states.convolution_bias ? 1 : 0)}),
              Split::by_tensor);
    // Each head has the speed of its clock, its decay, and the weight of its input.
    out.learn(3 * states.heads + (states.norm ? states.width : 0), Split::by_tensor);
    out.keep("scanned", states.width, Split::by_tensor);
    out.product(states.width, hidden, states.out_bias, Matrix::split_inputs);
    // Within a chunk tokens see each other; between chunks they see the states.
    out.core(2 * (shared + states.width), std::min(states.chunk, step.sequence));
    out.core(4 * states.width, states.state_size);
    out.core(2 * convolved, states.convolved);
}

}  // namespace gradcoll::mover
