// runtime/trace.hpp - who did what when, for people: the steps of every operation of this process
// as a Chrome/Perfetto trace (GC_TRACE).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/trace_span.hpp"

namespace gradcoll {

/// A Trace collects spans up to a limit and writes them as one JSON file. Thread safe.
class Trace {
  public:
    /// At most `max_spans` are kept; later ones are counted and dropped.
    Trace(int world_rank, std::string host, std::size_t max_spans);
    ~Trace();

    /// Returns a number for a name that is no static text, the same for the same text and
    /// prediction. There is room for some thousands; then it returns 0. `predicted_us` is what the
    /// model says that such a span takes, and is shown with each; 0 if it says nothing.
    std::uint32_t label(std::string_view text, double predicted_us = 0);

    /// Sets what the calling thread is for: the title of its row, before its number. `title` is
    /// static text.
    void name_this_thread(const char* title);
    /// Adds what the calling thread did by itself: these spans follow or contain one another.
    /// Memory grows in pieces, so that one span in some thousands allocates.
    void add(const TraceSpan& span);
    /// Adds a span that may overlap any other: a message, a whole operation, or what an engine does
    /// for a gradient.
    void add_overlapping(const TraceSpan& span);

    std::uint64_t span_count() const;
    std::uint64_t dropped_count() const;

    /// Writes the trace event format, one event a line. Times are microseconds since this object
    /// was made (doubles hold no real-time clock to the nanosecond); "otherData" says when that
    /// was, so that the files of several ranks can be laid side by side (gradcoll trace).
    void write(const std::function<void(std::string_view)>& sink) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gradcoll
