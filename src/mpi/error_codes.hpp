// mpi/error_codes.hpp - error codes of MPI's own that stand for failures of ours, for programs
// and tools that ask MPI_Error_string and know no GC_Error_string.
#pragma once

#include <string>

namespace gradcoll {

/// Returns a code of this class whose MPI_Error_string is `text`, as much of it as fits; the class
/// itself if MPI makes no code, or cannot tell it from codes of its own (MPICH 4.0). There is one
/// code for each class (MPI 3 has no way to take codes back), so a code says what its class failed
/// of last. Thread safe. MPI must be running.
int code_with_text(int mpi_class, const std::string& text);

/// Returns the class of calls that fail because a rank has died: MPIX_ERR_PROC_FAILED where MPI has
/// it; else a class of our own, whose text says so; MPI_ERR_OTHER if MPI makes none, or does not
/// run. The same all the time, once MPI runs. Thread safe.
int class_of_death();

}  // namespace gradcoll
