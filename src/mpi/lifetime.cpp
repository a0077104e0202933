#include "mpi/lifetime.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <vector>

namespace gradcoll {
namespace {

std::mutex actions_mutex;
std::vector<std::function<void()>> actions;  // guarded by actions_mutex
bool hooked = false;                         // guarded by actions_mutex
std::atomic<bool> finalizing{false};

std::function<void()> take_last_action() {
    const std::scoped_lock lock(actions_mutex);
    if (actions.empty()) return {};
    auto action = std::move(actions.back());
    actions.pop_back();
    return action;
}

int run_actions(MPI_Comm, int, void*, void*) noexcept {
    finalizing = true;
    while (const auto action = take_last_action()) action();
    const std::scoped_lock lock(actions_mutex);
    actions.shrink_to_fit();
    return MPI_SUCCESS;
}

/// Sets our hook for MPI_Finalize: an attribute of MPI_COMM_SELF, whose attributes MPI deletes
/// there first of all (MPI 3.1 section 8.7.1).
Status hook_finalize() {
    int keyval = MPI_KEYVAL_INVALID;
    GRADCOLL_TRY(
        from_mpi(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, run_actions, &keyval, nullptr),
                 "MPI_Comm_create_keyval"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr), "MPI_Comm_set_attr"));
    return from_mpi(PMPI_Comm_free_keyval(&keyval), "MPI_Comm_free_keyval");
}

constexpr char ending_name[] = "gradcoll: being freed";

/// Handles whose end this thread has seen are kept here; the oldest is overwritten. There is more
/// than one, because callbacks may free other communicators.
thread_local std::array<MPI_Comm, 4> ended{MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL,
                                           MPI_COMM_NULL};
thread_local std::size_t next_ended = 0;
thread_local int keepers = 0;

bool has_ending_name(MPI_Comm comm) {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    return PMPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS &&
           std::strcmp(name, ending_name) == 0;
}

}  // namespace

Status at_finalize(std::function<void()> action) {
    const std::scoped_lock lock(actions_mutex);
    if (finalizing) return {Code::internal, "MPI_Finalize has begun"};
    if (!hooked) GRADCOLL_TRY(hook_finalize());
    hooked = true;
    actions.push_back(std::move(action));
    return {};
}

bool finalize_has_begun() {
    return finalizing;
}

void note_end_of(MPI_Comm comm) noexcept {
    if (keepers > 0) return;
    PMPI_Comm_set_name(comm, ending_name);
    ended[next_ended++ % ended.size()] = comm;
}

bool is_ending(MPI_Comm comm) noexcept {
    for (MPI_Comm& one : ended) {
        if (one != comm || one == MPI_COMM_NULL) continue;
        if (has_ending_name(comm)) return true;
        one = MPI_COMM_NULL;  // the handle is another communicator's by now
    }
    return false;
}

KeepsComm::KeepsComm() noexcept {
    ++keepers;
}
KeepsComm::~KeepsComm() {
    --keepers;
}

Result<OwnedComm> make_own_comm() {
    OwnedComm comm;
    OwnedGroup self(MPI_GROUP_NULL);
    constexpr int tag = 0x6763;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_group(MPI_COMM_SELF, &self.handle), "MPI_Comm_group"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_create_group(MPI_COMM_SELF, self.handle, tag, &comm.handle),
                          "MPI_Comm_create_group"));
    PMPI_Comm_set_errhandler(comm.handle, errors_return());
    return comm;
}

}  // namespace gradcoll
