// After the first run of a shape nothing is allocated. Counts every operator new of this program.
#include <atomic>
#include <cstdlib>
#include <new>

#include "runtime/mpi_ranks.hpp"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size ? size : 1)) return memory;
    throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) {
    return counted(size);
}
void* operator new[](std::size_t size) {
    return counted(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace gradcoll {
namespace {

class Allocation : public MpiRanks {};

TEST_F(Allocation, WarmRunsAllocateNothing) {
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4}) {
        Scenario shape = scenario(lopsided_tree(), 300'000, codec);
        shape.spec.chunk_elems = 1 << 15;
        const auto executor = make_executor(shape, *channel_);
        const Floats in = sparse_input(channel_->rank(), 300'000);
        Floats out(in.size());
        ASSERT_TRUE(executor->run(binding_of(in, out, 0)).ok());
        const long before = allocations;
        for (std::uint32_t sequence = 1; sequence < 4; ++sequence)
            ASSERT_TRUE(executor->run(binding_of(in, out, sequence)).ok());
        EXPECT_EQ(allocations - before, 0);
    }
}

}  // namespace
}  // namespace gradcoll
