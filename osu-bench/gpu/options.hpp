// options.hpp - the options of gc_bench gpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "moved_bytes.hpp"

namespace gradcoll::bench {

struct GpuOptions {
    std::vector<std::size_t> sizes_bytes;  ///< sizes of the plain values, ascending
    std::vector<Kind> kinds;
    std::vector<CodecWork> works;
    int repeats = 21;
    int device = 0;
    std::uint64_t seed = 1;
    std::string csv_path;
};

using GpuCommandLine = CommandLine<GpuOptions>;
GpuCommandLine parse_gpu_command_line(int argc, const char* const* argv);

}  // namespace gradcoll::bench
