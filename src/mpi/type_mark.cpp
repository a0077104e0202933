#include "mpi/signature.hpp"

#include <atomic>
#include <memory>

#include "mpi/lifetime.hpp"

namespace gradcoll {
namespace {

/// This is MPI_KEYVAL_INVALID before the first mark and once MPI ends.
std::atomic<int> mark_keyval{MPI_KEYVAL_INVALID};

void free_keyval() {
    int keyval = mark_keyval.exchange(MPI_KEYVAL_INVALID);
    if (keyval != MPI_KEYVAL_INVALID) PMPI_Type_free_keyval(&keyval);
}

int delete_mark(MPI_Datatype, int, void* mark, void*) noexcept {
    delete static_cast<MarkedType*>(mark);
    return MPI_SUCCESS;
}

bool make_mark_keyval() {
    int keyval = MPI_KEYVAL_INVALID;
    if (PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_mark, &keyval, nullptr) !=
        MPI_SUCCESS)
        return false;
    mark_keyval = keyval;
    return at_finalize(free_keyval).ok();
}

}  // namespace

void mark_type(MPI_Datatype datatype, const MarkedType& mark) {
    static const bool made = make_mark_keyval();
    const int keyval = mark_keyval.load(std::memory_order_acquire);
    if (!made || keyval == MPI_KEYVAL_INVALID) return;
    auto kept = std::make_unique<MarkedType>(mark);
    if (PMPI_Type_set_attr(datatype, keyval, kept.get()) == MPI_SUCCESS)
        static_cast<void>(kept.release());
}

const MarkedType* mark_of(MPI_Datatype datatype) noexcept {
    const int keyval = mark_keyval.load(std::memory_order_acquire);
    void* mark = nullptr;
    int found = 0;
    if (keyval == MPI_KEYVAL_INVALID ||
        PMPI_Type_get_attr(datatype, keyval, &mark, &found) != MPI_SUCCESS || found == 0)
        return nullptr;
    return static_cast<const MarkedType*>(mark);
}

}  // namespace gradcoll
