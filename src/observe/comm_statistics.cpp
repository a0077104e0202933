#include "observe/comm_statistics.hpp"

#include "base/clock.hpp"
#include "base/log.hpp"
#include "observe/observe.hpp"

namespace gradcoll {
namespace {

/// This is the size from which on calls take far longer than to read the clock twice.
constexpr std::uint64_t least_timed_bytes = 16 << 10;
constexpr std::uint64_t timed_one_in = 16;

/// Adds to a counter that several threads may write; most calls add nothing to most counters.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
    if (amount != 0) counter.fetch_add(amount, std::memory_order_relaxed);
}

/// Adds to a counter with one writer at a time: a locked instruction costs as much as twenty
/// others.
void add_alone(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

std::uint64_t value_of(const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
}

}  // namespace

template <class Add>
void CommStatistics::Served::count(const CallTraffic& traffic, Add&& add) {
    add(calls, 1);
    add(compressed, traffic.lossy ? 1 : 0);
    add(bytes_reduced, traffic.bytes);
    add(bytes_sent, traffic.bytes_sent);
    add(bytes_sent_exact, traffic.bytes_sent_exact);
    add(messages_sent, traffic.messages_sent);
}

void CommStatistics::Served::reset() {
    for (Counter* counter :
         {&calls, &compressed, &bytes_reduced, &bytes_sent, &bytes_sent_exact, &messages_sent})
        counter->store(0, std::memory_order_relaxed);
}

CommStatistics::CommStatistics(MPI_Comm private_comm)
    : comm_(private_comm), is_observed_(observing_calls()) {}

void CommStatistics::count_served(const CallRecord& record) {
    if (is_observed_) observe_call(comm_, record);
    count_served(has(record.kind, CallTrait::waits),
                 {record.bytes, record.bytes_sent, record.bytes_sent_exact, record.messages_sent,
                  record.lossy, record.agents});
}

void CommStatistics::count_served(bool waited, const CallTraffic& traffic) {
    if (traffic.agents != nullptr) last_agents_.store(traffic.agents, std::memory_order_relaxed);
    if (waited)
        waited_.count(traffic, add_alone);
    else
        started_.count(traffic, add);
}

void CommStatistics::count_link_use(const LinkUse& of_one_call) {
    observe_link_use(comm_, of_one_call);
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

CallTimer CommStatistics::timer_of(std::uint64_t size_bytes) {
    if (size_bytes >= least_timed_bytes) return CallTimer(*this);
    add_alone(short_calls_, 1);
    if (value_of(short_calls_) % timed_one_in != 0) return {};
    return CallTimer(*this, static_cast<int>(timed_one_in));
}

GC_Stats CommStatistics::read() const {
    const auto sum_of = [this](Counter Served::*counter) {
        return value_of(waited_.*counter) + value_of(started_.*counter);
    };
    return {sum_of(&Served::calls),
            sum_of(&Served::compressed),
            value_of(calls_passed_),
            sum_of(&Served::bytes_reduced),
            sum_of(&Served::bytes_sent),
            sum_of(&Served::bytes_sent_exact),
            sum_of(&Served::messages_sent),
            seconds_of(value_of(nanoseconds_)),
            last_pass_reason_.load(std::memory_order_relaxed),
            last_agents_.load(std::memory_order_relaxed)};
}

void CommStatistics::reset() {
    waited_.reset();
    started_.reset();
    calls_passed_.store(0, std::memory_order_relaxed);
    nanoseconds_.store(0, std::memory_order_relaxed);
    last_pass_reason_.store(none_passed, std::memory_order_relaxed);
    last_agents_.store(no_agents, std::memory_order_relaxed);
}

std::uint64_t observed_bytes(MPI_Count count, MPI_Datatype datatype) {
    MPI_Count size_bytes = 0;
    if (!observing_calls() || PMPI_Type_size_x(datatype, &size_bytes) != MPI_SUCCESS) return 0;
    return static_cast<std::uint64_t>(count * size_bytes);
}

bool unattached_calls_are_told() {
    return observing_calls() || log_enabled(LogLevel::trace);
}

void count_unattached(MPI_Comm comm, CallKind kind, std::uint64_t size_bytes, PassReason reason) {
    observe_call(comm, {.kind = kind, .bytes = size_bytes, .pass_reason = text_of(reason)});
    log(LogLevel::trace, "a call passes to the MPI library: {}", text_of(reason));
}

}  // namespace gradcoll
