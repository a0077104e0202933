// mover/analysis/memory.cpp - see memory.hpp.
#include "mover/analysis/memory.hpp"

#include <algorithm>
#include <numeric>

namespace gradcoll::mover {
namespace {

std::size_t kind_index(MemoryKind kind) {
    return static_cast<std::size_t>(kind);
}

}  // namespace

std::int64_t sum_of(const BytesByKind& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

std::vector<BytesByKind> memory_of(const RankProgram& rank) {
    // The changes at each operator are collected first, then summed up.
    std::vector<BytesByKind> memory(rank.operators.size() + 1);
    for (const DeviceTensor& tensor : rank.tensors) {
        const std::size_t kind = kind_index(tensor.kind);
        const std::size_t from = tensor.stays ? 0 : static_cast<std::size_t>(tensor.uses.front());
        memory[from][kind] += tensor.bytes;
        if (!tensor.stays)
            memory[static_cast<std::size_t>(tensor.uses.back()) + 1][kind] -= tensor.bytes;
    }
    for (std::size_t n = 1; n < memory.size(); ++n)
        for (std::size_t kind = 0; kind < memory_kinds; ++kind)
            memory[n][kind] += memory[n - 1][kind];
    memory.pop_back();
    for (std::size_t n = 0; n < memory.size(); ++n)
        memory[n][kind_index(MemoryKind::workspace)] += rank.operators[n].workspace_bytes;
    return memory;
}

std::vector<std::int64_t> held_by_operator(const RankProgram& rank) {
    std::vector<std::int64_t> held;
    for (const BytesByKind& bytes : memory_of(rank)) held.push_back(sum_of(bytes));
    return held;
}

MemoryPeak peak_of(const std::vector<BytesByKind>& memory) {
    MemoryPeak peak;
    for (std::size_t n = 0; n < memory.size(); ++n) {
        const std::int64_t bytes = sum_of(memory[n]);
        if (bytes > peak.bytes) peak = {bytes, static_cast<std::int32_t>(n), memory[n]};
    }
    return peak;
}

std::int64_t peak_of(const std::vector<BytesByKind>& memory, MemoryKind kind) {
    std::int64_t most = 0;
    for (const BytesByKind& bytes : memory) most = std::max(most, bytes[kind_index(kind)]);
    return most;
}

}  // namespace gradcoll::mover
