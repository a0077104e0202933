#include "base/mpi/ulfm.hpp"

#include <dlfcn.h>

namespace gradcoll {
namespace {

template <class Function>
void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

const Ulfm& ulfm() {
    static const Ulfm found = [] {
        Ulfm functions;
        find(functions.revoke, "PMPIX_Comm_revoke");
        find(functions.shrink, "PMPIX_Comm_shrink");
        find(functions.iagree, "PMPIX_Comm_iagree");
        find(functions.get_failed, "PMPIX_Comm_get_failed");
        return functions.is_there() ? functions : Ulfm();
    }();
    return found;
}

Status agree_as_survivors(MPI_Comm comm, int& flag) {
    MPI_Request request = MPI_REQUEST_NULL;
    GRADCOLL_TRY(from_mpi(ulfm().iagree(comm, &flag, &request), "MPIX_Comm_iagree"));
    return from_mpi(PMPI_Wait(&request, MPI_STATUS_IGNORE), "MPIX_Comm_iagree");
}

bool knows_of_failures(MPI_Comm comm) {
    OwnedGroup failed(MPI_GROUP_NULL);
    int count = 0;
    return ulfm().get_failed(comm, &failed.handle) == MPI_SUCCESS &&
           PMPI_Group_size(failed.handle, &count) == MPI_SUCCESS && count > 0;
}

}  // namespace gradcoll
