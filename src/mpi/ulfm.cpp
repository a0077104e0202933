#include "mpi/ulfm.hpp"

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

}  // namespace gradcoll
