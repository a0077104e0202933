// open_memory.cpp - the host's memory, and the names of other memories.
#include "memory.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "peers/peer.hpp"

namespace gradcoll::bench {
namespace {

class HostMemory : public Memory {
  public:
    std::string description() const override { return "host memory"; }
    void* allocate(std::size_t size_bytes) override {
        void* memory = std::malloc(size_bytes);
        if (memory == nullptr) {
            end_job(fmt::format("no memory for {} bytes", size_bytes));
        }
        return memory;
    }
    void release(void* memory) override { std::free(memory); }
    void copy(void* to, const void* from, std::size_t size_bytes) override {
        std::memcpy(to, from, size_bytes);
    }
    Memory& host_side() override { return *this; }
};

}  // namespace

OpenedMemory open_memory(const std::string& name) {
    if (name == "host") {
        return {std::make_unique<HostMemory>(), {}, 0};
    }
    return open_device_memory(name);
}

}  // namespace gradcoll::bench
