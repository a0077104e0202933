// Info objects that unchanged programs put on communicators, or make them with.
#include "api/interposed/entries.hpp"
#include "attach/comm_info.hpp"
#include "attach/offered_comm.hpp"
#include "base/log.hpp"
#include "mpi/boundary.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {
namespace {

template <class Body>
void warn_of_failure(Body&& body) noexcept try {
    if (const Status status = body(); !status.ok())
        log(LogLevel::warn, "info of communicator: {}", status.message());
} catch (...) {
    log(LogLevel::warn, "info of communicator: {}", status_of_current_exception().message());
}

}  // namespace

void info_was_set(GC_Mpi_handle comm_bits, GC_Mpi_handle info) noexcept {
    const auto comm = handle_of<MPI_Comm>(comm_bits);
    if (!mpi_is_running() || comm == MPI_COMM_NULL) return;
    warn_of_failure([&] { return take_new_info(comm, handle_of<MPI_Info>(info)); });
}

void dup_begins(GC_Mpi_handle comm_bits, GC_Mpi_handle info) noexcept {
    const auto comm = handle_of<MPI_Comm>(comm_bits);
    if (!mpi_is_running() || comm == MPI_COMM_NULL) return;
    warn_of_failure([&] {
        serve_from({0, 0});  // its first call is to be offered, however short it is
        return give_to_next_dup(comm, handle_of<MPI_Info>(info));
    });
}

void dup_has_begun(GC_Mpi_handle comm_bits) noexcept {
    const auto comm = handle_of<MPI_Comm>(comm_bits);
    if (mpi_is_running() && comm != MPI_COMM_NULL) next_dup_has_begun(comm);
}

}  // namespace gradcoll
