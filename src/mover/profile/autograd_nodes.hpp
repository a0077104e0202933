// mover/profile/autograd_nodes.hpp - joins what autograd ran backward with the operators that made
// its nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "mover/profile/trace_file.hpp"

namespace gradcoll::mover {

/// An Evaluation is what autograd's engine ran for a node, with all that ran inside.
struct Evaluation {
    double start_us = 0, end_us = 0;
    int thread = 0;
    std::int64_t sequence = -1;          ///< -1: the node has no number, as sums of gradients
    std::vector<std::int64_t> summed{};  ///< numbers in each gradient that was summed
    bool sums_gradients = false;
};

/// Returns the evaluations that are in no other of their thread, by time.
std::vector<Evaluation> evaluations_of(const Trace& trace);

inline constexpr int any_thread = -1;

/// Returns the evaluation in which this thread is at that time, or nullptr.
const Evaluation* evaluation_at(const std::vector<Evaluation>& evaluations, double us, int thread);

/// A Node was made by an operator, and evaluated later.
struct Node {
    double made_us = 0, made_until_us = 0;  ///< its operator
    std::size_t evaluation = 0;             ///< the index in evaluations_of()
    const TraceSpan* maker = nullptr;
};

/// Returns the numbers of the parameters whose gradients an evaluation summed. `maker` made its
/// node; nullptr: it has none.
std::int64_t parameters_of(const Evaluation& evaluation, const TraceSpan* maker);

/// Returns the nodes that operators of this thread made, by time. An operator has the number that
/// the next node will get, so the last operator with a number made the node.
std::vector<Node> nodes_of(const Trace& trace, const std::vector<Evaluation>& evaluations,
                           int thread);

}  // namespace gradcoll::mover
