#include "runtime/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <queue>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_labels = 4096;

/// Rows of the picture, from top to bottom: operations, the threads' own work, messages that leave,
/// messages that arrive. Spans of one row must not overlap, so each kind has as many as it needs.
constexpr std::uint64_t rows_a_kind = 1'000'000;
enum class RowKind : std::uint8_t { operation, work, send, recv };
constexpr const char* title_of[] = {"operation", "work of thread", "send", "recv"};

constexpr std::uint64_t row_id(RowKind kind, std::uint64_t index) {
    return static_cast<std::uint64_t>(kind) * rows_a_kind + index + 1;
}

std::uint64_t unix_now_ns() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
}

std::uint32_t number_of_this_thread() {
    static std::atomic<std::uint32_t> next{0};
    thread_local const std::uint32_t mine = next++;
    return mine;
}

RowKind kind_of(const TraceSpan& span) {
    const std::string_view name = span.name;
    if (name == "send") return RowKind::send;
    return name == "recv" ? RowKind::recv : RowKind::operation;
}

/// What a span is called, and how long it should take in microseconds (0: nobody said).
using Label = std::pair<std::string, double>;

struct KeptSpan {
    TraceSpan span;
    std::uint32_t thread = 0;
    RowKind kind = RowKind::work;
};
static_assert(sizeof(KeptSpan) <= 64);  // docs/report.md says so

/// Gives spans, asked for in the order of their begins, the lowest row that is free.
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
    using Busy = std::pair<std::uint64_t, std::uint64_t>;  ///< until, row
    std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> free_;
    std::uint64_t count_ = 0;
};

std::string json_text(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

struct Trace::Impl {
    Impl(int rank, std::string given_host, std::size_t most)
        : world_rank(rank), host(std::move(given_host)), max_spans(most) {}

    const int world_rank;
    const std::string host;
    const std::size_t max_spans;
    const std::uint64_t start_ns = now_ns();
    const std::uint64_t start_unix_ns = unix_now_ns();

    mutable std::mutex mutex;  ///< guards all below
    std::deque<KeptSpan> spans;
    std::uint64_t dropped = 0;
    std::vector<Label> labels;
    std::map<Label, std::uint32_t> label_numbers;

    void keep(const TraceSpan& span, RowKind kind) {
        const std::uint32_t thread = number_of_this_thread();
        const std::scoped_lock lock(mutex);
        if (spans.size() < max_spans)
            spans.push_back({span, thread, kind});
        else
            ++dropped;
    }

    std::string_view name_of(const TraceSpan& span) const {
        return span.label > 0 ? std::string_view(labels[span.label - 1].first) : span.name;
    }

    /// Microseconds since the start, to the nanosecond.
    std::string time_text(std::uint64_t ns) const {
        const std::uint64_t since = ns > start_ns ? ns - start_ns : 0;
        return fmt::format("{}.{:03}", since / 1000, since % 1000);
    }

    std::string event(const KeptSpan& kept, std::uint64_t row) const {
        const TraceSpan& span = kept.span;
        const std::uint64_t length = std::max(span.end_ns, span.begin_ns) - span.begin_ns;
        std::string text = fmt::format(
            R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{},"dur":{}.{:03},"args":{{"operation":{})",
            world_rank, row, json_text(name_of(span)), time_text(span.begin_ns), length / 1000,
            length % 1000, span.operation);
        const auto out = std::back_inserter(text);
        if (span.bytes > 0) fmt::format_to(out, R"(,"bytes":{})", span.bytes);
        if (span.peer >= 0) fmt::format_to(out, R"(,"peer":{})", span.peer);
        if (span.level >= 0) fmt::format_to(out, R"(,"level":{})", span.level);
        if (span.chunk >= 0) fmt::format_to(out, R"(,"chunk":{})", span.chunk);
        if (span.label > 0 && labels[span.label - 1].second > 0)
            fmt::format_to(out, R"(,"predicted_us":{:.3f})", labels[span.label - 1].second);
        text += "}}";
        return text;
    }

    std::string metadata(const char* what, std::uint64_t row, std::string_view args) const {
        return fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{{}}}}})",
                           world_rank, row, what, args);
    }
};

Trace::Trace(int world_rank, std::string host, std::size_t max_spans)
    : impl_(std::make_unique<Impl>(world_rank, std::move(host), max_spans)) {}
Trace::~Trace() = default;

std::uint32_t Trace::label(std::string_view text, double predicted_us) {
    Label label(text, predicted_us);
    const std::scoped_lock lock(impl_->mutex);
    if (const auto known = impl_->label_numbers.find(label); known != impl_->label_numbers.end())
        return known->second;
    if (impl_->labels.size() == most_labels) return 0;
    impl_->labels.push_back(label);
    const auto number = static_cast<std::uint32_t>(impl_->labels.size());
    impl_->label_numbers.emplace(std::move(label), number);
    return number;
}

void Trace::add(const TraceSpan& span) {
    impl_->keep(span, RowKind::work);
}

void Trace::add_overlapping(const TraceSpan& span) {
    impl_->keep(span, kind_of(span));
}

std::uint64_t Trace::span_count() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->spans.size();
}

std::uint64_t Trace::dropped_count() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->dropped;
}

void Trace::write(const std::function<void(std::string_view)>& sink) const {
    const std::scoped_lock lock(impl_->mutex);
    std::vector<const KeptSpan*> order;
    order.reserve(impl_->spans.size());
    for (const KeptSpan& kept : impl_->spans) order.push_back(&kept);
    // Of two that begin at once the longer one contains the other.
    std::stable_sort(order.begin(), order.end(), [](const KeptSpan* a, const KeptSpan* b) {
        return std::pair(a->span.begin_ns, b->span.end_ns) <
               std::pair(b->span.begin_ns, a->span.end_ns);
    });

    sink(fmt::format(R"({{"displayTimeUnit":"ns","otherData":{{"producer":"gradcoll trace 1",)"
                     R"("rank":{},"host":{},"start_unix_ns":"{}","spans":{},"spans_dropped":{}}},)"
                     "\n\"traceEvents\":[\n",
                     impl_->world_rank, json_text(impl_->host), impl_->start_unix_ns,
                     impl_->spans.size(), impl_->dropped));
    sink(impl_->metadata(
        "process_name", 0,
        fmt::format(R"("name":{})",
                    json_text(fmt::format("rank {} on {}", impl_->world_rank, impl_->host)))));
    sink(",\n" + impl_->metadata("process_sort_index", 0,
                                 fmt::format(R"("sort_index":{})", impl_->world_rank)));
    Rows rows[4];
    std::uint64_t threads = 0;
    for (const KeptSpan* kept : order) {
        const bool work = kept->kind == RowKind::work;
        if (work) threads = std::max<std::uint64_t>(threads, kept->thread + 1);
        const std::uint64_t index =
            work ? kept->thread : rows[static_cast<int>(kept->kind)].place(kept->span);
        sink(",\n" + impl_->event(*kept, row_id(kept->kind, index)));
    }
    for (const RowKind kind : {RowKind::operation, RowKind::work, RowKind::send, RowKind::recv}) {
        const std::uint64_t count =
            kind == RowKind::work ? threads : rows[static_cast<int>(kind)].count();
        for (std::uint64_t index = 0; index < count; ++index) {
            const std::uint64_t row = row_id(kind, index);
            const std::string name =
                fmt::format(R"("name":"{} {}")", title_of[static_cast<int>(kind)], index + 1);
            sink(",\n" + impl_->metadata("thread_name", row, name));
            sink(",\n" +
                 impl_->metadata("thread_sort_index", row, fmt::format(R"("sort_index":{})", row)));
        }
    }
    sink("\n]}\n");
}

std::string Trace::json() const {
    std::string text;
    write([&](std::string_view piece) { text += piece; });
    return text;
}

}  // namespace gradcoll
