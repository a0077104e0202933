#include "runtime/trace_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <queue>

#include "topology/json_value.hpp"

namespace gradcoll {
namespace {

/// Each kind of rows has this many numbers: spans of one row must not overlap, so each kind has as
/// many rows as it needs.
constexpr std::uint64_t rows_a_kind = 1'000'000;
constexpr const char* title_of[] = {"gradient",       "coordinator", "operation",
                                    "work of thread", "send",        "recv"};
static_assert(std::size(title_of) == trace_row_count);

constexpr std::uint64_t row_id(TraceRow kind, std::uint64_t index) {
    return static_cast<std::uint64_t>(kind) * rows_a_kind + index + 1;
}

/// Rows gives spans, asked for in the order of their begins, the lowest row that is free.
class Rows {
  public:
    std::uint64_t place(const TraceSpan& span) {
        while (!busy_.empty() && busy_.top().first <= span.begin_ns) {
            free_.push(busy_.top().second);
            busy_.pop();
        }
        if (free_.empty()) free_.push(count_++);
        const std::uint64_t row = free_.top();
        free_.pop();
        busy_.emplace(span.end_ns, row);
        return row;
    }
    std::uint64_t count() const { return count_; }

  private:
    using Busy =
        std::pair<std::uint64_t, std::uint64_t>;  ///< time until which it is busy, and the row
    std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> free_;
    std::uint64_t count_ = 0;
};

/// Sorts spans by their begins; of two that begin at once the longer one, which contains the other,
/// is first.
std::vector<const KeptSpan*> in_order(const std::deque<KeptSpan>& spans) {
    std::vector<const KeptSpan*> order;
    order.reserve(spans.size());
    for (const KeptSpan& kept : spans) order.push_back(&kept);
    std::stable_sort(order.begin(), order.end(), [](const KeptSpan* a, const KeptSpan* b) {
        return std::pair(a->span.begin_ns, b->span.end_ns) <
               std::pair(b->span.begin_ns, a->span.end_ns);
    });
    return order;
}

/// ArrowPart says how a span is joined to the arrow of its gradient.
struct ArrowPart {
    char phase;
    bool at_end;
};

const ArrowPart* part_of(const KeptSpan& kept) {
    static constexpr ArrowPart first{'s', false}, middle{'t', false}, last{'f', true};
    if (kept.row == TraceRow::coordinator) return &middle;
    if (kept.row == TraceRow::gradient) return &last;
    return kept.row == TraceRow::work && std::string_view(kept.span.name) == "submit" ? &first
                                                                                      : nullptr;
}

class TraceWriter {
  public:
    TraceWriter(const TraceContent& content, const std::function<void(std::string_view)>& sink)
        : content_(content), sink_(sink) {}

    void write() {
        sink_(head());
        write_process();
        for (const KeptSpan* kept : in_order(content_.spans)) write_span(*kept);
        for (int kind = 0; kind < trace_row_count; ++kind) write_rows(static_cast<TraceRow>(kind));
        sink_("\n]}\n");
    }

  private:
    std::string head() const {
        return fmt::format(
            R"({{"displayTimeUnit":"ns","otherData":{{"producer":"gradcoll trace 1",)"
            R"("rank":{},"host":{},"start_unix_ns":"{}","spans":{},"spans_dropped":{}}},)"
            "\n\"traceEvents\":[\n",
            content_.world_rank, json_string(content_.host), content_.start_unix_ns,
            content_.spans.size(), content_.dropped);
    }

    void write_process() const {
        const std::string name = fmt::format("rank {} on {}", content_.world_rank, content_.host);
        sink_(metadata("process_name", 0, fmt::format(R"("name":{})", json_string(name))));
        sink_(",\n" + metadata("process_sort_index", 0,
                               fmt::format(R"("sort_index":{})", content_.world_rank)));
    }

    void write_span(const KeptSpan& kept) {
        std::uint64_t index = kept.thread;
        if (kept.row == TraceRow::work)
            threads_ = std::max(threads_, index + 1);
        else
            index = rows_[static_cast<int>(kept.row)].place(kept.span);
        const std::uint64_t row = row_id(kept.row, index);
        sink_(",\n" + event(kept.span, row));
        if (const ArrowPart* part = part_of(kept)) sink_(",\n" + arrow(*part, kept.span, row));
    }

    void write_rows(TraceRow kind) const {
        const std::uint64_t count =
            kind == TraceRow::work ? thread_count() : rows_[static_cast<int>(kind)].count();
        for (std::uint64_t index = 0; index < count; ++index) {
            const std::uint64_t row = row_id(kind, index);
            const std::string name =
                fmt::format(R"("name":"{} {}")", title_of_row(kind, index), index + 1);
            sink_(",\n" + metadata("thread_name", row, name));
            sink_(",\n" +
                  metadata("thread_sort_index", row, fmt::format(R"("sort_index":{})", row)));
        }
    }

    /// Returns the number of threads, with those that have a title though they have done nothing.
    std::uint64_t thread_count() const {
        const auto& titles = content_.thread_titles;
        return titles.empty() ? threads_
                              : std::max<std::uint64_t>(threads_, titles.rbegin()->first + 1U);
    }

    const char* title_of_row(TraceRow kind, std::uint64_t index) const {
        const auto titled = content_.thread_titles.find(static_cast<std::uint32_t>(index));
        return kind == TraceRow::work && titled != content_.thread_titles.end()
                   ? titled->second
                   : title_of[static_cast<int>(kind)];
    }

    std::string_view name_of(const TraceSpan& span) const {
        return span.label > 0 ? std::string_view(content_.labels[span.label - 1].first) : span.name;
    }

    /// Returns microseconds since the start, to the nanosecond.
    std::string time_text(std::uint64_t ns) const {
        const std::uint64_t since = ns > content_.start_ns ? ns - content_.start_ns : 0;
        return fmt::format("{}.{:03}", since / 1000, since % 1000);
    }

    std::string event(const TraceSpan& span, std::uint64_t row) const {
        const std::uint64_t length = std::max(span.end_ns, span.begin_ns) - span.begin_ns;
        std::string text = fmt::format(
            R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{},"dur":{}.{:03},"args":{{"operation":{})",
            content_.world_rank, row, json_string(name_of(span)), time_text(span.begin_ns),
            length / 1000, length % 1000, span.operation);
        const auto out = std::back_inserter(text);
        if (span.bytes > 0) fmt::format_to(out, R"(,"bytes":{})", span.bytes);
        if (span.peer >= 0) fmt::format_to(out, R"(,"peer":{})", span.peer);
        if (span.level >= 0) fmt::format_to(out, R"(,"level":{})", span.level);
        if (span.chunk >= 0) fmt::format_to(out, R"(,"chunk":{})", span.chunk);
        const double predicted_us = span.label > 0 ? content_.labels[span.label - 1].second : 0;
        if (predicted_us > 0) fmt::format_to(out, R"(,"predicted_us":{:.3f})", predicted_us);
        text += "}}";
        return text;
    }

    /// Returns one end of an arrow that follows a gradient from the thread that handed it in to the
    /// end of its sum. Numbers of sums count in each process.
    std::string arrow(const ArrowPart& part, const TraceSpan& span, std::uint64_t row) const {
        const std::uint64_t at_ns =
            part.at_end ? std::max(span.begin_ns + 1, span.end_ns) - 1 : span.begin_ns;
        return fmt::format(
            R"({{"ph":"{}","bp":"e","cat":"gradient","name":"gradient","id":{},"pid":{},"tid":{},"ts":{}}})",
            part.phase, static_cast<std::uint64_t>(content_.world_rank) << 32U | span.operation,
            content_.world_rank, row, time_text(at_ns));
    }

    std::string metadata(const char* what, std::uint64_t row, std::string_view args) const {
        return fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{{}}}}})",
                           content_.world_rank, row, what, args);
    }

    const TraceContent& content_;
    const std::function<void(std::string_view)>& sink_;
    Rows rows_[trace_row_count];  ///< one for each kind, but for work, which has a row for each
                                  ///< thread
    std::uint64_t threads_ = 0;   ///< how many threads have worked
};

}  // namespace

void write_trace_json(const TraceContent& content,
                      const std::function<void(std::string_view)>& sink) {
    TraceWriter(content, sink).write();
}

}  // namespace gradcoll
