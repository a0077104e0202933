#include "comm/started_calls.hpp"

#include <sched.h>

#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "transport/peer_watch.hpp"

namespace gradcoll {
namespace {

struct Listed {
    StartedCall* call;
    std::shared_ptr<StartedCall> kept;  ///< null: the program keeps it
};

std::mutex calls_mutex;
std::vector<Listed> calls;  // guarded by calls_mutex
std::atomic<std::size_t> call_count{0};
std::atomic<std::size_t> mpi_call_count{0};
std::atomic<bool> more_in_waits{false};
std::atomic<void (*)(bool)> listener{nullptr};

/// Tells whether waits are to be seen. The caller holds calls_mutex.
void tell_listener() {
    if (auto* const tell = listener.load(); tell != nullptr)
        tell(mpi_call_count > 0 || more_in_waits);
}

/// Counts the calls anew. The caller holds calls_mutex.
void count_calls() {
    std::size_t for_mpi = 0;
    for (const Listed& listed : calls) for_mpi += listed.kept != nullptr ? 1 : 0;
    call_count = calls.size();
    const bool had_any = mpi_call_count.exchange(for_mpi) > 0;
    if (had_any != (for_mpi > 0)) tell_listener();
}

void add(Listed listed) {
    const std::scoped_lock lock(calls_mutex);
    calls.push_back(std::move(listed));
    count_calls();
}

}  // namespace

void add_started_call(StartedCall& call) {
    add({&call, nullptr});
}

void add_started_call(std::shared_ptr<StartedCall> call) {
    StartedCall* const itself = call.get();
    add({itself, std::move(call)});
}

bool advance_started_calls(Mover mover) {
    if (call_count.load(std::memory_order_relaxed) == 0) return false;
    const std::unique_lock lock(calls_mutex, std::try_to_lock);
    if (!lock.owns_lock()) {
        sched_yield();  // the thread that is at it may need this core
        return true;
    }
    bool advanced = false;
    const std::size_t finished = std::erase_if(calls, [&](const Listed& listed) {
        const StartedCall::Turn turn = listed.call->advance(mover);
        advanced = advanced || turn != StartedCall::Turn::idle;
        return turn == StartedCall::Turn::finished;
    });
    if (finished > 0) count_calls();
    return advanced;
}

Status allreduce_going_on(void* data, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Iallreduce(MPI_IN_PLACE, data, count, datatype, op, comm, &request),
                          "MPI_Iallreduce"));
    SlowWait slow;
    for (int done = 0; done == 0;) {
        GRADCOLL_TRY(from_mpi(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
        if (done == 0 && !advance_started_calls()) sched_yield();
        if (done == 0) slow.tells([] { return std::string("for all others in MPI_Iallreduce"); });
    }
    return {};
}

std::size_t calls_for_mpi() {
    return mpi_call_count.load();
}

void when_calls_for_mpi_come_or_go(void (*listener_now)(bool any)) {
    const std::scoped_lock lock(calls_mutex);
    listener = listener_now;
    tell_listener();
}

void waits_may_do_more(bool more) {
    const std::scoped_lock lock(calls_mutex);
    if (more_in_waits.exchange(more) != more) tell_listener();
}

bool waits_do_more() {
    return more_in_waits.load(std::memory_order_relaxed);
}

}  // namespace gradcoll
