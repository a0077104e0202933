#include "api/edge/ending_comms.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace gradcoll {
namespace {

constexpr char ending_name[] = "gradcoll: being freed";

/// Handles whose end this thread has seen; the oldest is overwritten. More than one, because
/// callbacks may free other communicators.
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

}  // namespace gradcoll
