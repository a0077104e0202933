// MPI deletes the attributes of MPI_COMM_SELF first of all in MPI_Finalize (MPI 3.1 section 8.7.1):
// our hook.
#include "api/edge/lifetime.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include "base/mpi/mpi.hpp"

namespace gradcoll {
namespace {

std::mutex mutex;
std::vector<std::function<void()>> actions;  // guarded by mutex
bool hooked = false;                         // guarded by mutex
std::atomic<bool> finalizing{false};

std::function<void()> take_last_action() {
    const std::scoped_lock lock(mutex);
    if (actions.empty()) return {};
    auto action = std::move(actions.back());
    actions.pop_back();
    return action;
}

int run_actions(MPI_Comm, int, void*, void*) noexcept {
    finalizing = true;
    while (const auto action = take_last_action()) action();
    const std::scoped_lock lock(mutex);
    actions.shrink_to_fit();
    return MPI_SUCCESS;
}

Status hook_finalize() {
    int keyval = MPI_KEYVAL_INVALID;
    GRADCOLL_TRY(
        from_mpi(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, run_actions, &keyval, nullptr),
                 "MPI_Comm_create_keyval"));
    GRADCOLL_TRY(from_mpi(PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr), "MPI_Comm_set_attr"));
    return from_mpi(PMPI_Comm_free_keyval(&keyval), "MPI_Comm_free_keyval");
}

}  // namespace

Status at_finalize(std::function<void()> action) {
    const std::scoped_lock lock(mutex);
    if (finalizing) return {Code::internal, "MPI_Finalize has begun"};
    if (!hooked) GRADCOLL_TRY(hook_finalize());
    hooked = true;
    actions.push_back(std::move(action));
    return {};
}

bool finalize_has_begun() {
    return finalizing;
}

}  // namespace gradcoll
