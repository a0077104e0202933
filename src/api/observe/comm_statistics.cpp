#include "api/observe/comm_statistics.hpp"

#include "api/observe/observe.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"

namespace gradcoll {
namespace {

/// Most counters get nothing from most calls.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
    if (amount != 0) counter.fetch_add(amount, std::memory_order_relaxed);
}

std::uint64_t value_of(const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
}

}  // namespace

void CommStatistics::count_served(const CallRecord& record) {
    observe_call(comm_, record);
    add(calls_tree_, 1);
    add(calls_compressed_, record.lossy ? 1 : 0);
    add(bytes_reduced_, record.bytes);
    add(bytes_sent_, record.bytes_sent);
    add(bytes_sent_exact_, record.bytes_sent_exact);
    add(messages_sent_, record.messages_sent);
}

void CommStatistics::count_local(CallKind kind, std::uint64_t size_bytes) {
    count_served({.kind = kind, .bytes = size_bytes});
}

void CommStatistics::count_passed(CallKind kind, std::uint64_t size_bytes, PassReason reason) {
    count_unattached(comm_, kind, size_bytes, reason);
    add(calls_passed_, 1);
    last_pass_reason_.store(text_of(reason), std::memory_order_relaxed);
}

void CommStatistics::count_time(std::chrono::nanoseconds time) {
    add(nanoseconds_, static_cast<std::uint64_t>(time.count()));
}

GC_Stats CommStatistics::read() const {
    return {value_of(calls_tree_),
            value_of(calls_compressed_),
            value_of(calls_passed_),
            value_of(bytes_reduced_),
            value_of(bytes_sent_),
            value_of(bytes_sent_exact_),
            value_of(messages_sent_),
            seconds_of(value_of(nanoseconds_)),
            last_pass_reason_.load(std::memory_order_relaxed)};
}

void CommStatistics::reset() {
    for (Counter* counter : {&calls_tree_, &calls_compressed_, &calls_passed_, &bytes_reduced_,
                             &bytes_sent_, &bytes_sent_exact_, &messages_sent_, &nanoseconds_})
        counter->store(0, std::memory_order_relaxed);
    last_pass_reason_.store(none_passed, std::memory_order_relaxed);
}

std::uint64_t observed_bytes(MPI_Count count, MPI_Datatype datatype) {
    MPI_Count size_bytes = 0;
    if (!observing_calls() || PMPI_Type_size_x(datatype, &size_bytes) != MPI_SUCCESS) return 0;
    return static_cast<std::uint64_t>(count * size_bytes);
}

void count_unattached(MPI_Comm comm, CallKind kind, std::uint64_t size_bytes, PassReason reason) {
    observe_call(comm, {.kind = kind, .bytes = size_bytes, .pass_reason = text_of(reason)});
    log(LogLevel::trace, "a call passes to the MPI library: {}", text_of(reason));
}

}  // namespace gradcoll
