#include "api/comm/plain_call.hpp"

#include <array>
#include <cstdint>
#include <functional>

#include "api/edge/signature.hpp"
#include "base/hash.hpp"
#include "device/devices.hpp"

namespace gradcoll {

bool is_plain_host_memory(const void* buffer) {
    return buffer != nullptr && buffer != MPI_IN_PLACE &&
           Devices::of_process().device_of(buffer) == host_memory;
}

bool are_plain_and_apart(const CallArguments& arguments, std::uint64_t size_bytes) {
    if (!is_plain_host_memory(arguments.recvbuf)) return false;
    if (is_in_place(arguments)) return true;
    const auto from = reinterpret_cast<std::uintptr_t>(arguments.sendbuf);
    const auto to = reinterpret_cast<std::uintptr_t>(arguments.recvbuf);
    const std::uintptr_t apart = from < to ? to - from : from - to;
    return apart >= size_bytes && is_plain_host_memory(arguments.sendbuf);
}

std::size_t bytes_of_named(MPI_Datatype datatype) {
    struct Seen {
        MPI_Datatype datatype = MPI_DATATYPE_NULL;
        std::size_t bytes = 0;
    };
    constexpr int bits = 3;
    thread_local std::array<Seen, 1 << bits> seen;
    if (datatype == MPI_DATATYPE_NULL) return 0;
    Seen& last = seen[slot_of(std::hash<MPI_Datatype>{}(datatype), bits)];
    if (last.datatype == datatype) return last.bytes;
    if (!is_plain(datatype) || !is_named(datatype)) return 0;
    const auto bytes = data_bytes(datatype);
    if (!bytes) return 0;
    last = {datatype, *bytes};
    return *bytes;
}

}  // namespace gradcoll
