// tests/support/test_memory.hpp - arrays in the memory of a device, or of the host in its place:
// filled, looked at, and with canaries around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gradcoll::test {

/// TestMemory is where arrays lie. copy() goes in any direction and is over when it returns.
class TestMemory {
  public:
    virtual ~TestMemory() = default;
    virtual std::byte* allocate(std::size_t size_bytes) = 0;  ///< aligned to 16 bytes at least
    virtual void release(std::byte* memory) = 0;
    virtual void copy(void* to, const void* from, std::size_t size_bytes) = 0;
};

class HostMemory final : public TestMemory {
  public:
    std::byte* allocate(std::size_t size_bytes) override;
    void release(std::byte* memory) override;
    void copy(void* to, const void* from, std::size_t size_bytes) override;
};

/// A TestArray is at `shift` bytes from an aligned address. One that is written has canaries around
/// it; one that is read ends where the allocation ends, so that a sanitizer sees who reads on.
class TestArray {
  public:
    using Bytes = std::vector<std::byte>;
    enum class Use : std::uint8_t { read, written };

    TestArray(TestMemory& memory, const Bytes& content, Use use, std::size_t shift = 0);
    TestArray(const TestArray&) = delete;
    TestArray& operator=(const TestArray&) = delete;
    ~TestArray();

    std::byte* data() const { return allocation_ + guard_ + shift_; }
    Bytes content() const;
    bool canaries_intact() const;

  private:
    TestMemory& memory_;
    std::size_t guard_, shift_, size_;
    std::byte* allocation_;
};

}  // namespace gradcoll::test
