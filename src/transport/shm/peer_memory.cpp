#include "transport/shm/peer_memory.hpp"

#include <sys/uio.h>

#include <cerrno>

namespace gradcoll {

ssize_t read_process(pid_t process, std::uint64_t address, void* to, std::size_t size_bytes) {
    const iovec local{to, size_bytes};
    const iovec remote{reinterpret_cast<void*>(address), size_bytes};  // NOLINT: another's address
    const ssize_t count = process_vm_readv(process, &local, 1, &remote, 1, 0);
    return count >= 0 ? count : -errno;
}

}  // namespace gradcoll
