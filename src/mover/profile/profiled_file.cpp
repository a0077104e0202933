// mover/profile/profiled_file.cpp - see profiled_model.hpp.

#include <algorithm>
#include <fstream>

#include "mover/profile/profiled_model.hpp"

namespace gradcoll::mover {

bool is_trace_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    // A few properties come before the events.
    std::string start(std::size_t{1} << 16, '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    return start.starts_with("\x1f\x8b") || start.find("\"traceEvents\"") != start.npos ||
           is_execution_trace(start);
}

Result<ProfiledModel> read_profiled_model(std::string_view option, const std::string& path) {
    const std::string text = GRADCOLL_VALUE(trace_text(option, path));
    if (is_execution_trace(text))
        return model_of_execution_trace(GRADCOLL_VALUE(execution_trace_of_text(path, text)));
    return model_of_trace(GRADCOLL_VALUE(trace_of_text(path, text)));
}

}  // namespace gradcoll::mover
