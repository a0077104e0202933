#include "api/observe/comm_statistics.hpp"

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

void CallCounters::count(const CallRecord& record) {
    add(calls_tree_, 1);
    add(calls_compressed_, record.lossy ? 1 : 0);
    add(bytes_reduced_, record.bytes);
    add(bytes_sent_, record.bytes_sent);
    add(bytes_sent_exact_, record.bytes_sent_exact);
    add(messages_sent_, record.messages_sent);
}

void CallCounters::count_passed(const char* reason) {
    add(calls_passed_, 1);
    last_pass_reason_.store(reason, std::memory_order_relaxed);
}

void CallCounters::count_time(std::chrono::nanoseconds time) {
    add(nanoseconds_, static_cast<std::uint64_t>(time.count()));
}

CallStats CallCounters::read() const {
    return {value_of(calls_tree_),
            value_of(calls_compressed_),
            value_of(calls_passed_),
            value_of(bytes_reduced_),
            value_of(bytes_sent_),
            value_of(bytes_sent_exact_),
            value_of(messages_sent_),
            value_of(nanoseconds_),
            last_pass_reason_.load(std::memory_order_relaxed)};
}

void CallCounters::reset() {
    for (Counter* counter : {&calls_tree_, &calls_compressed_, &calls_passed_, &bytes_reduced_,
                             &bytes_sent_, &bytes_sent_exact_, &messages_sent_, &nanoseconds_})
        counter->store(0, std::memory_order_relaxed);
    last_pass_reason_.store(CallStats{}.last_pass_reason, std::memory_order_relaxed);
}

}  // namespace gradcoll
