#include "attach/comm_info.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mpi/lifetime.hpp"
#include "settings/info_keys.hpp"

namespace gradcoll {
namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

/// A Waiting is the value of our attribute on a communicator.
struct Waiting {
    std::optional<Keys> own;      ///< for this communicator
    std::optional<Keys> of_next;  ///< for its next duplicate
};

std::mutex keyval_mutex;
std::atomic<int> waiting_keyval{MPI_KEYVAL_INVALID};  // made once, under keyval_mutex

/// MPI calls this while it duplicates: what was meant for the duplicate becomes its own.
int hand_on(MPI_Comm, int, void*, void* value, void* copy, int* flag) noexcept try {
    const auto& from = *static_cast<const Waiting*>(value);
    *flag = from.of_next ? 1 : 0;
    if (from.of_next) *static_cast<void**>(copy) = new Waiting{from.of_next, {}};
    return MPI_SUCCESS;
} catch (...) {
    return MPI_ERR_NO_MEM;
}

int forget(MPI_Comm, int, void* value, void*) noexcept {
    delete static_cast<Waiting*>(value);
    return MPI_SUCCESS;
}

Status make_waiting_keyval() {
    const std::scoped_lock lock(keyval_mutex);
    if (waiting_keyval != MPI_KEYVAL_INVALID) return {};
    int keyval = MPI_KEYVAL_INVALID;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_create_keyval(hand_on, forget, &keyval, nullptr),
                          "MPI_Comm_create_keyval"));
    GRADCOLL_TRY(at_finalize([] {
        int ended = waiting_keyval.exchange(MPI_KEYVAL_INVALID);
        PMPI_Comm_free_keyval(&ended);
    }));
    waiting_keyval = keyval;
    return {};
}

/// Returns null if nothing waits.
Waiting* waiting_on(MPI_Comm comm) {
    const int keyval = waiting_keyval.load(std::memory_order_acquire);
    if (keyval == MPI_KEYVAL_INVALID || is_ending(comm)) return nullptr;
    void* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, keyval, &value, &found);
    return found != 0 ? static_cast<Waiting*>(value) : nullptr;
}

void delete_if_empty(MPI_Comm comm, const Waiting& waiting) {
    if (!waiting.own && !waiting.of_next) PMPI_Comm_delete_attr(comm, waiting_keyval);
}

Result<Keys> keys_in(MPI_Info info) {
    Keys keys;
    const auto names = gc_keys_of(info);
    if (!names) return names.status();
    for (const std::string& name : *names) {
        const auto value = info_value(info, name);
        if (!value) return value.status();
        if (*value) keys.emplace_back(name, **value);
    }
    return keys;
}

}  // namespace

Status give_to_next_dup(MPI_Comm comm, MPI_Info info) {
    GRADCOLL_TRY(make_waiting_keyval());
    Keys keys = GRADCOLL_VALUE(keys_in(info));
    if (Waiting* const waiting = waiting_on(comm); waiting != nullptr) {
        waiting->of_next = std::move(keys);
        return {};
    }
    auto waiting = std::make_unique<Waiting>(Waiting{{}, std::move(keys)});
    GRADCOLL_TRY(
        from_mpi(PMPI_Comm_set_attr(comm, waiting_keyval, waiting.get()), "MPI_Comm_set_attr"));
    static_cast<void>(waiting.release());
    return {};
}

void next_dup_has_begun(MPI_Comm comm) {
    Waiting* const waiting = waiting_on(comm);
    if (waiting == nullptr) return;
    waiting->of_next.reset();
    delete_if_empty(comm, *waiting);
}

bool has_waiting_info(MPI_Comm comm) {
    const Waiting* const waiting = waiting_on(comm);
    return waiting != nullptr && waiting->own.has_value();
}

Result<OwnedInfo> take_waiting_info(MPI_Comm comm) {
    OwnedInfo info;
    GRADCOLL_TRY(from_mpi(PMPI_Info_create(&info.handle), "MPI_Info_create"));
    Waiting* const waiting = waiting_on(comm);
    if (waiting == nullptr || !waiting->own) return info;
    const Keys keys = std::move(*waiting->own);
    waiting->own.reset();
    delete_if_empty(comm, *waiting);
    for (const auto& [name, value] : keys)
        GRADCOLL_TRY(
            from_mpi(PMPI_Info_set(info.handle, name.c_str(), value.c_str()), "MPI_Info_set"));
    return info;
}

}  // namespace gradcoll
