// runtime/trace_json.hpp - collected spans as a file that Perfetto and chrome://tracing show.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/trace_span.hpp"

namespace gradcoll {

/// TraceRow names the rows of the picture, from top to bottom: gradients of engines, from the begin
/// of their sums to the end; what they waited for before, which the coordinator decides;
/// operations; the threads' own work; messages that leave; messages that arrive.
enum class TraceRow : std::uint8_t { gradient, coordinator, operation, work, send, recv };
inline constexpr int trace_row_count = static_cast<int>(TraceRow::recv) + 1;

struct KeptSpan {
    TraceSpan span;
    std::uint32_t thread = 0;  ///< its number in the process
    TraceRow row = TraceRow::work;
};
static_assert(sizeof(KeptSpan) <= 64);  // docs/report.md says so

/// TraceLabel says what a span is called, and how long it should take in microseconds (0: nobody
/// said).
using TraceLabel = std::pair<std::string, double>;

/// TraceContent is what one process has collected.
struct TraceContent {
    int world_rank = 0;
    std::string host;
    std::uint64_t start_ns = 0;      ///< now_ns() when it began
    std::int64_t start_unix_ns = 0;  ///< the same time on the clock of the day
    std::deque<KeptSpan> spans = {};
    std::uint64_t dropped = 0;
    std::vector<TraceLabel> labels = {};  ///< TraceSpan::label counts them from 1
    std::map<std::uint32_t, const char*> thread_titles = {};  ///< titles of threads that have one
};

/// Writes the trace event format, one event a line, in pieces to `sink`.
void write_trace_json(const TraceContent& content,
                      const std::function<void(std::string_view)>& sink);

}  // namespace gradcoll
