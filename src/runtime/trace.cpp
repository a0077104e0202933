// runtime/trace.cpp - collecting spans; trace_json.cpp writes them.
#include "runtime/trace.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "runtime/trace_json.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_labels = 4096;

std::uint32_t number_of_this_thread() {
    static std::atomic<std::uint32_t> next{0};
    thread_local const std::uint32_t mine = next++;
    return mine;
}

TraceRow row_of(const TraceSpan& span) {
    const std::string_view name = span.name;
    if (name == "send") return TraceRow::send;
    if (name == "recv") return TraceRow::recv;
    if (name == "coordinator") return TraceRow::coordinator;
    return name == "gradient" ? TraceRow::gradient : TraceRow::operation;
}

}  // namespace

struct Trace::Impl {
    void keep(const TraceSpan& span, TraceRow row) {
        const std::uint32_t thread = number_of_this_thread();
        const std::scoped_lock lock(mutex);
        if (content.spans.size() < max_spans)
            content.spans.push_back({span, thread, row});
        else
            ++content.dropped;
    }

    const std::size_t max_spans;
    TraceContent content;
    std::map<TraceLabel, std::uint32_t> label_numbers = {};
    mutable std::mutex mutex = {};  ///< guards spans, dropped, labels and titles
};

Trace::Trace(int world_rank, std::string host, std::size_t max_spans)
    : impl_(new Impl{max_spans,
                     {.world_rank = world_rank,
                      .host = std::move(host),
                      .start_ns = now_ns(),
                      .start_unix_ns = unix_now_ns()}}) {}
Trace::~Trace() = default;

std::uint32_t Trace::label(std::string_view text, double predicted_us) {
    TraceLabel label(text, predicted_us);
    const std::scoped_lock lock(impl_->mutex);
    if (const auto known = impl_->label_numbers.find(label); known != impl_->label_numbers.end())
        return known->second;
    std::vector<TraceLabel>& labels = impl_->content.labels;
    if (labels.size() == most_labels) return 0;
    labels.push_back(label);
    const auto number = static_cast<std::uint32_t>(labels.size());
    impl_->label_numbers.emplace(std::move(label), number);
    return number;
}

void Trace::name_this_thread(const char* title) {
    const std::uint32_t thread = number_of_this_thread();
    const std::scoped_lock lock(impl_->mutex);
    impl_->content.thread_titles[thread] = title;
}

void Trace::add(const TraceSpan& span) {
    impl_->keep(span, TraceRow::work);
}

void Trace::add_overlapping(const TraceSpan& span) {
    impl_->keep(span, row_of(span));
}

std::uint64_t Trace::span_count() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->content.spans.size();
}

std::uint64_t Trace::dropped_count() const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->content.dropped;
}

void Trace::write(const std::function<void(std::string_view)>& sink) const {
    const std::scoped_lock lock(impl_->mutex);
    write_trace_json(impl_->content, sink);
}

}  // namespace gradcoll
