// transport/shm/peer_memory.hpp - reading the memory of another process of the host (CMA, Linux:
// process_vm_readv).
#pragma once

#include <sys/types.h>
#include <sys/uio.h>
#include <cerrno>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradcoll {

/// A ReadProcess reads at most `size_bytes` at `address` of a process. It returns how many were
/// read, or -errno.
using ReadProcess = ssize_t (*)(pid_t process, std::uint64_t address, void* to,
                                std::size_t size_bytes);
inline ssize_t read_process(pid_t process, std::uint64_t address, void* to,
                            std::size_t size_bytes) {
    const iovec local{to, size_bytes};
    const iovec remote{reinterpret_cast<void*>(address), size_bytes};  // NOLINT: another's address
    const ssize_t count = process_vm_readv(process, &local, 1, &remote, 1, 0);
    return count >= 0 ? count : -errno;
}

/// PeerMemory says whether and how receivers read large messages straight from their senders.
struct PeerMemory {
    std::vector<pid_t> processes;  ///< one per rank; empty: nobody reads
    std::size_t least_bytes = 0;   ///< smaller messages go through cells
    ReadProcess read = read_process;

    bool serves(std::size_t size_bytes) const {
        return !processes.empty() && size_bytes >= least_bytes;
    }
};

}  // namespace gradcoll
