#include "comm/ulfm_ballots.hpp"

#include <sched.h>

#include <string>
#include <utility>

#include "base/clock.hpp"
#include "comm/started_calls.hpp"

namespace gradcoll {

UlfmBallots::UlfmBallots(PrivateComm comm, std::uint64_t patience_ns)
    : asked_(new Asked{std::move(comm)}), patience_ns_(patience_ns) {}

UlfmBallots::~UlfmBallots() {
    if (asked_->request != MPI_REQUEST_NULL && !answer()) (void)asked_.release();
}

void UlfmBallots::cast(std::uint64_t, unsigned vote) {
    asked_->flag = static_cast<int>(vote);
    slow_ = {};
    if (ulfm().iagree(asked_->comm.handle(), &asked_->flag, &asked_->request) != MPI_SUCCESS) {
        asked_->request = MPI_REQUEST_NULL;
        asked_->flag = 0;
    }
    if ((vote & Vote::made) != 0) return;
    const std::uint64_t end_ns = now_ns() + patience_ns_;
    while (!answer() && now_ns() < end_ns) sched_yield();
}

/// The flag is what all ranks agree on, also where a process has failed and the code says so.
std::optional<unsigned> UlfmBallots::answer() {
    int done = 1;
    if (asked_->request != MPI_REQUEST_NULL) PMPI_Test(&asked_->request, &done, MPI_STATUS_IGNORE);
    if (done == 0 && asked_->request != MPI_REQUEST_NULL) return {};
    slow_.goes_on();
    return static_cast<unsigned>(asked_->flag) & Vote::all;
}

void UlfmBallots::rest() {
    slow_.tells(
        [] { return std::string("for all votes on a sum, which the MPI library collects"); });
    if (!advance_started_calls()) sched_yield();
}

}  // namespace gradcoll
