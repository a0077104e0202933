#include "api/interposed/unserved_memory.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>

namespace gradcoll::test {
namespace {

/// Holds the sizes, by address, of memory that only the MPI library may touch.
std::map<void*, std::size_t> closed;
std::mutex closed_mutex;

void protect_all(int protection) {
    for (const auto& [memory, bytes] : closed) mprotect(memory, bytes, protection);
}

/// Returns what tells the driver that memory is a device's, or, with a size of 0, no longer.
UnservedMemory::Tell driver_of_test() {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    void* const found = driver != nullptr ? dlsym(driver, "gc_test_device_memory") : nullptr;
    if (found == nullptr) throw std::runtime_error("libcuda.so.1 is not that of the test");
    return reinterpret_cast<UnservedMemory::Tell>(found);
}

}  // namespace

UnservedMemory::UnservedMemory(const std::vector<std::byte>& content)
    : tell_driver_(driver_of_test()), size_bytes_(content.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    mapped_bytes_ = (size_bytes_ / page + 1) * page;
    memory_ =
        mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::runtime_error("no memory");
    std::memcpy(memory_, content.data(), size_bytes_);
    const std::scoped_lock lock(closed_mutex);
    tell_driver_(memory_, mapped_bytes_);
    closed[memory_] = mapped_bytes_;
    protect_all(PROT_NONE);
}

UnservedMemory::~UnservedMemory() {
    const std::scoped_lock lock(closed_mutex);
    closed.erase(memory_);
    tell_driver_(memory_, 0);
    munmap(memory_, mapped_bytes_);
}

std::vector<std::byte> UnservedMemory::content() const {
    std::vector<std::byte> bytes(size_bytes_);
    const std::scoped_lock lock(closed_mutex);
    protect_all(PROT_READ);
    std::memcpy(bytes.data(), memory_, size_bytes_);
    protect_all(PROT_NONE);
    return bytes;
}

}  // namespace gradcoll::test

/// Stands for an MPI library that reads and writes memory of devices.
extern "C" int PMPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                             int sendtag, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                             int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
    using gradcoll::test::protect_all;
    static const auto next =
        reinterpret_cast<decltype(&PMPI_Sendrecv)>(dlsym(RTLD_NEXT, "PMPI_Sendrecv"));
    const std::scoped_lock lock(gradcoll::test::closed_mutex);
    protect_all(PROT_READ | PROT_WRITE);
    const int code = next(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                          source, recvtag, comm, status);
    protect_all(PROT_NONE);
    return code;
}
