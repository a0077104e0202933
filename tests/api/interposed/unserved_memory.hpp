// tests/api/interposed/unserved_memory.hpp - memory of a device that no plug-in serves: the driver
// (unserved_driver.c) calls it a device's, and whoever touches it dies, but for the MPI library's
// MPI_Sendrecv. For GC_DEVICE=off,mpi=on.
#pragma once

#include <cstddef>
#include <vector>

namespace gradcoll::test {

class UnservedMemory {
  public:
    using Tell = void (*)(void* memory, std::size_t size_bytes);

    explicit UnservedMemory(const std::vector<std::byte>& content);
    ~UnservedMemory();
    UnservedMemory(const UnservedMemory&) = delete;
    UnservedMemory& operator=(const UnservedMemory&) = delete;

    void* data() const { return memory_; }
    std::vector<std::byte> content() const;

  private:
    Tell tell_driver_;
    std::size_t size_bytes_;
    std::size_t mapped_bytes_;
    void* memory_;
};

}  // namespace gradcoll::test
