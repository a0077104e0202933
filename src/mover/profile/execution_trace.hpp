// mover/profile/execution_trace.hpp - reads an execution trace of PyTorch
// (torch.profiler.ExecutionTraceObserver): JSON of the schema 1.1.x-chakra. Of its "nodes" these
// are read: name, id, ctrl_deps (the node around it), inputs and outputs with values and shapes and
// strides, attrs seq_id, scope, tid, op_schema. A tensor is [id, id of its storage, offset,
// numbers, bytes of a number, device]. There are no times: nodes are in the order of their ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mover/profile/trace_file.hpp"

namespace gradcoll::mover {

struct ExecutedTensor {
    std::int64_t storage = 0;
    std::int64_t bytes = 0;  ///< of the storage, as far as this tensor reaches
    std::vector<std::int64_t> shape{};
};

struct ExecutedNode {
    std::string name;
    std::int64_t id = 0, parent = 0;
    std::int64_t last_id = 0;    ///< the last one inside
    std::int64_t sequence = -1;  ///< autograd's number of the node, forward and backward
    int thread = 0;
    bool is_operator = false;  ///< has a schema, and shows all its tensors
    bool is_annotation = false;
    std::vector<ExecutedTensor> inputs{}, outputs{};
};

/// Returns whether autograd evaluated a node there.
bool is_evaluation(const ExecutedNode& node);
/// Returns whether that node is a function of a program; names of PyTorch's own end with a number.
bool is_of_program(const ExecutedNode& evaluation);

struct ExecutionTrace {
    std::string origin;
    std::vector<ExecutedNode> nodes;  ///< by id
    Trace spans;                      ///< the same as spans: ids in the place of times
};

/// Returns whether such a trace is what a text begins with.
bool is_execution_trace(const std::string& text);

/// Errors: invalid_argument with file, place, value and what is allowed.
Result<ExecutionTrace> execution_trace_of_text(const std::string& origin, const std::string& text);

}  // namespace gradcoll::mover
