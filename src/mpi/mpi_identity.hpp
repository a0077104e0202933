// mpi/mpi_identity.hpp - which MPI this library was built for, and which one it meets.
#pragma once

#include <string>
#include <string_view>

namespace gradcoll {

struct MpiIdentity {
    std::string family;   ///< "Open MPI", "MPICH", ...; empty: not one that is known here
    std::string version;  ///< "4.1.4"; empty if it is not told

    /// Returns a text such as "Open MPI 4.1.4".
    std::string text() const;
};

/// Reads the identity from what MPI_Get_library_version says.
MpiIdentity mpi_identity_from(std::string_view library_version);
/// Returns the identity of the <mpi.h> that was compiled against, as its macros tell it.
MpiIdentity mpi_built_for();
/// Returns the identity of the MPI library of this process. Callable before MPI_Init.
MpiIdentity mpi_seen();
/// Returns all that the MPI library of this process says of itself. Callable before MPI_Init.
std::string mpi_library_text();

/// Returns whether handles and calls mean the same in the MPI `a` that was built for and the MPI
/// `b` that is met: they are of one family and one major version, or both have MPICH's ABI, as
/// MPICH from 3.1 on and Intel MPI do.
bool are_compatible(const MpiIdentity& a, const MpiIdentity& b);

/// Warns once a job if the library meets an MPI that is not compatible with the one that it was
/// built for: the loader goes by names of files and functions, which may be the same. Warns, too,
/// if an MPI with the standard ABI means something else by its constants.
void warn_about_another_mpi();

}  // namespace gradcoll
