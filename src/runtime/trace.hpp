// runtime/trace.hpp - who did what when, for people: the steps of every operation of this process as
// a Chrome/Perfetto trace (GC_TRACE).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gradcoll {

/// One span of time on one rank.
struct TraceSpan {
    const char* name = "";       ///< static: "encode", "send", "recv", "decode", "reduce", "call"...
    std::uint64_t begin_ns = 0;  ///< now_ns()
    std::uint64_t end_ns = 0;
    std::uint64_t bytes = 0;
    int peer = -1;   ///< rank in the communicator; -1: none
    int level = -1;  ///< of the tree; -1: none
    std::int64_t chunk = -1;
    std::uint32_t operation = 0;  ///< number of the operation on its communicator
};

/// Collects spans up to a limit and writes them as one JSON file. Thread safe.
class Trace {
  public:
    /// At most `max_spans` are kept; later ones are counted and dropped.
    Trace(int world_rank, std::string host, std::size_t max_spans);
    ~Trace();

    void add(const TraceSpan& span);
    /// Trace event format; times in microseconds of the real-time clock, so that the files of several
    /// hosts can be laid side by side (scripts/merge-trace).
    std::string json() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gradcoll
