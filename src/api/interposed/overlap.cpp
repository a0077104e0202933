#include "api/interposed/overlap.hpp"

#include <cstring>

namespace gradcoll {

SettledInput settle_input(const BufferArgument& send, const BufferArgument& receive,
                          const void* in_place_address, bool mpi_takes_it) {
    SettledInput input;
    input.sendbuf = send.data;
    if (send.data == MPI_IN_PLACE || check_disjoint(send, receive).ok()) return input;
    if (send.data == in_place_address) {
        input.sendbuf = MPI_IN_PLACE;
        if (!mpi_takes_it) input.pass_reason = PassReason::aliased_buffer;
        return input;
    }
    input.copy.reset(new std::byte[send.size_bytes]);
    std::memcpy(input.copy.get(), send.data, send.size_bytes);
    input.sendbuf = input.copy.get();
    return input;
}

}  // namespace gradcoll
