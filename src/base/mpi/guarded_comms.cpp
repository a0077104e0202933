#include "base/mpi/guarded_comms.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/mpi/ulfm.hpp"

namespace gradcoll {
namespace {

struct Guarded {
    MPI_Comm comm = MPI_COMM_NULL;
    const GuardedComms* by = nullptr;
    bool is_given_up = false;
};

std::mutex comms_mutex;
std::vector<Guarded> comms;  // guarded by comms_mutex

/// Returns who guards the communicator; null if nobody does.
const GuardedComms* guard_of(MPI_Comm comm) {
    const std::scoped_lock lock(comms_mutex);
    const auto found = std::ranges::find(comms, comm, &Guarded::comm);
    return found != comms.end() ? found->by : nullptr;
}

void guard(MPI_Comm comm, const GuardedComms* by) {
    const std::scoped_lock lock(comms_mutex);
    comms.push_back({comm, by});
}

/// Returns those that somebody guards.
std::vector<Guarded> guarded_by(const GuardedComms* by) {
    const std::scoped_lock lock(comms_mutex);
    std::vector<Guarded> theirs;
    std::ranges::copy_if(comms, std::back_inserter(theirs),
                         [&](const Guarded& each) { return each.by == by; });
    return theirs;
}

}  // namespace

GuardedComms::GuardedComms(MPI_Comm first) {
    guard(first, this);
}

GuardedComms::~GuardedComms() {
    std::vector<Guarded> mine = guarded_by(this);
    {
        const std::scoped_lock lock(comms_mutex);
        std::erase_if(comms, [this](const Guarded& each) { return each.by == this; });
        if (comms.empty()) comms.shrink_to_fit();
    }
    for (Guarded& each : mine)
        if (each.is_given_up) PMPI_Comm_free(&each.comm);
}

void GuardedComms::revoke() {
    for (const Guarded& each : guarded_by(this)) ulfm().revoke(each.comm);
}

Status GuardedComms::of_all(MPI_Comm parent, MPI_Comm made, Status mine) {
    const GuardedComms* const by = guard_of(parent);
    if (by == nullptr) return mine;
    if (made != MPI_COMM_NULL) guard(made, by);
    int all_have_it = mine.ok() ? 1 : 0;
    (void)agree_as_survivors(parent, all_have_it);
    if (!mine.ok() || all_have_it != 0) return mine;
    return {Code::peer_failed, "another rank has not got a communicator that all make"};
}

int free_own_comm(MPI_Comm* comm) {
    {
        const std::scoped_lock lock(comms_mutex);
        const auto found = std::ranges::find(comms, *comm, &Guarded::comm);
        if (found != comms.end()) {
            found->is_given_up = true;
            return MPI_SUCCESS;
        }
    }
    return PMPI_Comm_free(comm);
}

}  // namespace gradcoll
