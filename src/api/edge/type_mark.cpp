#include "api/edge/type_mark.hpp"

#include <atomic>
#include <cstdint>

#include "api/edge/lifetime.hpp"

namespace gradcoll {
namespace {

/// MPI_KEYVAL_INVALID before the first mark and once MPI ends.
std::atomic<int> mark_keyval{MPI_KEYVAL_INVALID};

void free_keyval() {
    int keyval = mark_keyval.exchange(MPI_KEYVAL_INVALID);
    if (keyval != MPI_KEYVAL_INVALID) PMPI_Type_free_keyval(&keyval);
}

bool make_keyval() {
    int keyval = MPI_KEYVAL_INVALID;
    if (PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, nullptr) !=
        MPI_SUCCESS)
        return false;
    mark_keyval = keyval;
    return at_finalize(free_keyval).ok();
}

}  // namespace

void mark_type(MPI_Datatype datatype, std::size_t element_bytes) noexcept {
    static const bool made = make_keyval();
    const int keyval = mark_keyval.load(std::memory_order_acquire);
    if (!made || keyval == MPI_KEYVAL_INVALID) return;
    // An attribute is a pointer; this one is a number. NOLINTNEXTLINE(performance-no-int-to-ptr)
    PMPI_Type_set_attr(datatype, keyval, reinterpret_cast<void*>(element_bytes));
}

std::size_t marked_bytes(MPI_Datatype datatype) noexcept {
    const int keyval = mark_keyval.load(std::memory_order_acquire);
    void* value = nullptr;
    int found = 0;
    if (keyval == MPI_KEYVAL_INVALID ||
        PMPI_Type_get_attr(datatype, keyval, &value, &found) != MPI_SUCCESS || found == 0)
        return 0;
    return reinterpret_cast<std::uintptr_t>(value);
}

}  // namespace gradcoll
