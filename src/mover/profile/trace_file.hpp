// mover/profile/trace_file.hpp - reads a trace of PyTorch's profiler: the Chrome trace that Kineto
// writes (torch.profiler, export_chrome_trace; .json or .json.gz). Of its "traceEvents" these are
// read:
//   ph "X", cat "cpu_op", "user_annotation": name, pid, tid, ts, dur, args "Sequence number",
//     "External id", "Input Dims" (types are not read: their names differ from one operator to the
//     other, and memory events say bytes)
//   ph "X", cat "kernel", "gpu_memcpy", "gpu_memset": dur, args "External id" ("external id")
//   ph "i", name "[memory]": ts, args "Addr", "Bytes", "Total Allocated", "Device Type"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll::mover {

/// This operator runs a checkpoint's forward, whose backward sums gradients of its inputs as if
/// they were parameters.
inline constexpr std::string_view checkpoint_name = "CheckpointFunction";

/// A TraceSpan is an operator, or a range that the program annotated.
struct TraceSpan {
    std::string name;
    double start_us = 0;
    double end_us = 0;
    int thread = 0;              ///< counted in the order in which they come in the file
    std::int64_t sequence = -1;  ///< autograd's number of the node, forward and backward
    std::int64_t external = -1;  ///< the number by which kernels refer to their operator
    std::int64_t numbers = 0;    ///< numbers in the first input, if shapes were recorded
    std::vector<std::int64_t> checkpointed{};  ///< numbers in each input of a checkpoint
};

struct TraceKernel {
    std::int64_t external = -1;
    double us = 0;
};

struct TraceMemory {
    double at_us = 0;
    std::int64_t address = 0;
    std::int64_t bytes = 0;  ///< negative: freed
    std::int64_t total = 0;  ///< bytes allocated in all at that time
};

struct Trace {
    std::string origin;
    std::vector<TraceSpan> annotations;  ///< by time, as operators
    std::vector<TraceSpan> operators;
    std::vector<TraceKernel> kernels;
    std::vector<TraceMemory> memory;  ///< by time; of the devices if any, else of the host
};

/// Reads the text of a trace of either kind. Errors: io; invalid_argument for damaged gzip.
Result<std::string> trace_text(std::string_view option, const std::string& path);

/// Read a trace. Errors: io, and invalid_argument with file, place, value and what is allowed.
Result<Trace> read_trace(std::string_view option, const std::string& path);
Result<Trace> trace_of_text(const std::string& origin, const std::string& text);

/// Returns `bytes` themselves, or what they were before gzip. Errors: invalid_argument for a
/// damaged file or one of more than `most` bytes; the message is the reason alone.
Result<std::string> unpacked(std::string bytes, std::size_t most);

}  // namespace gradcoll::mover
