#include "api/comm/started_calls.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace gradcoll {
namespace {

std::mutex calls_mutex;
std::vector<StartedCall*> calls;  // guarded by calls_mutex
std::atomic<std::size_t> call_count{0};

}  // namespace

void add_started_call(StartedCall& call) {
    const std::scoped_lock lock(calls_mutex);
    calls.push_back(&call);
    call_count = calls.size();
}

bool advance_started_calls() {
    if (call_count.load(std::memory_order_relaxed) == 0) return false;
    const std::unique_lock lock(calls_mutex, std::try_to_lock);
    if (!lock.owns_lock()) return true;
    bool advanced = false;
    std::erase_if(calls, [&advanced](StartedCall* call) {
        const StartedCall::Turn turn = call->advance();
        advanced = advanced || turn != StartedCall::Turn::idle;
        return turn == StartedCall::Turn::finished;
    });
    call_count = calls.size();
    return advanced;
}

}  // namespace gradcoll
