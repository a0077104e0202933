// mover/profile/trace_file.hpp - a trace of PyTorch's profiler: the Chrome trace that Kineto writes
// (torch.profiler, export_chrome_trace; .json or .json.gz). Of its "traceEvents" these are read:
//   ph "X", cat "cpu_op", "user_annotation": name, ts, dur, args "Sequence number", "External id",
//     "Input Dims"
//   ph "X", cat "kernel", "gpu_memcpy", "gpu_memset": dur, args "External id" ("external id")
//   ph "i", name "[memory]": ts, args "Addr", "Bytes", "Total Allocated", "Device Type"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace gradcoll::mover {

/// An operator, or what the program said to be at work on.
struct TraceSpan {
    std::string name;
    double start_us = 0;
    double end_us = 0;
    std::int64_t sequence = -1;  ///< the same of a node of autograd forward and backward
    std::int64_t external = -1;  ///< what kernels name as theirs
    std::int64_t numbers = 0;    ///< in the first input, if shapes were recorded
};

struct TraceKernel {
    std::int64_t external = -1;
    double us = 0;
};

struct TraceMemory {
    double at_us = 0;
    std::int64_t address = 0;
    std::int64_t bytes = 0;  ///< negative: given back
    std::int64_t total = 0;  ///< allocated then
};

struct Trace {
    std::string origin;
    std::vector<TraceSpan> annotations;  ///< all by time
    std::vector<TraceSpan> operators;
    std::vector<TraceKernel> kernels;
    std::vector<TraceMemory> memory;  ///< of the devices if there are any, else of the host
};

/// Whether the file is such a trace, or compressed; other forms are not.
bool is_trace_file(const std::string& path);

/// Errors: io, and invalid_argument with file, place, value and what is allowed.
Result<Trace> read_trace(std::string_view option, const std::string& path);
Result<Trace> trace_of_text(const std::string& origin, const std::string& text);

}  // namespace gradcoll::mover
