// reduce/reducer.cpp - picks the kernel for a call; combines any number of vectors block by block,
// by the chain of binary kernels with its intermediates on the stack.
#include "reduce/reducer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "instruction_sets.hpp"
#include "memory/copy.hpp"
#include "reduce/kernels.hpp"

namespace gradcoll {
namespace {

using Sources = std::span<const void* const>;

const unsigned char* bytes_of(const void* source, std::size_t offset) {
    return static_cast<const unsigned char*>(source) + offset;
}

/// Combines the elements at `offset` of all sources: all but the last operation into `scratch`,
/// which is read before `out` is written, since `out` may be a source.
void combine_block(const Reducer& reducer, Sources sources, std::size_t offset,
                   std::size_t block_elems, unsigned char* scratch, void* out) {
    const void* combined = bytes_of(sources[0], offset);
    for (std::size_t s = 1; s < sources.size(); ++s) {
        void* to = s + 1 < sources.size() ? scratch : out;
        reducer(combined, bytes_of(sources[s], offset), to, block_elems);
        combined = to;
    }
}

struct Scratch {
    alignas(stream_alignment) unsigned char bytes[reduce_block_bytes];
};

void combine_in_blocks(const Reducer& reducer, Sources sources, unsigned char* out,
                       std::size_t count) {
    Scratch scratch;
    const std::size_t block_elems = reduce_block_bytes / reducer.element_bytes;
    for (std::size_t done = 0; done < count; done += block_elems) {
        const std::size_t offset = done * reducer.element_bytes;
        combine_block(reducer, sources, offset, std::min(block_elems, count - done), scratch.bytes,
                      out + offset);
    }
}

void copy(Sources sources, unsigned char* out, std::size_t size_bytes) {
    if (sources[0] != out) copy_bytes(out, sources[0], size_bytes);
}

/// Makes the result of a block at a time on the stack and copies it from there; `out` is aligned.
void combine_streaming(const Reducer& reducer, Sources sources, std::size_t offset,
                       unsigned char* out, std::size_t count) {
    Scratch scratch;
    const std::size_t block_elems = reduce_block_bytes / reducer.element_bytes;
    for (std::size_t done = 0; done < count; done += block_elems) {
        const std::size_t at = offset + done * reducer.element_bytes;
        const std::size_t elems = std::min(block_elems, count - done);
        combine_block(reducer, sources, at, elems, scratch.bytes, scratch.bytes);
        const void* result = sources.size() == 1 ? bytes_of(sources[0], at) : scratch.bytes;
        stream_copy(out + at, result, elems * reducer.element_bytes);
    }
    stream_fence();
}

void combine_plain(const Reducer& reducer, Sources sources, unsigned char* out, std::size_t count) {
    const bool by_pairs = reducer.together_elems == 1;
    if (by_pairs && sources.size() == 1)
        copy(sources, out, count * reducer.element_bytes);
    else if (by_pairs && sources.size() == 2)
        reducer(sources[0], sources[1], out, count);
    else if (reducer.many != nullptr)
        reducer.many(reducer.context, sources.data(), sources.size(), out, count, false);
    else
        combine_in_blocks(reducer, sources, out, count);
}

std::size_t bytes_to_next_line(const void* address) {
    return (stream_alignment - reinterpret_cast<std::uintptr_t>(address) % stream_alignment) %
           stream_alignment;
}

}  // namespace

const KernelTable& kernels_of(InstructionSet set) {
    static constexpr const KernelTable& (*tables[])() = {GRADCOLL_OF_SETS(kernel_table)};
    return tables[static_cast<std::size_t>(set)]();
}

Reducer reducer_for(ReduceOp op, ElementType type, InstructionSet set) {
    if (type == ElementType::opaque) return {};
    const auto row = static_cast<std::size_t>(op);
    const auto column = static_cast<std::size_t>(type);
    const KernelTable& table = kernels_of(set);
    const ReduceFunction function = table.function[row][column];
    if (function == nullptr) return {};
    const auto many = op == ReduceOp::sum ? table.sum_of_many[column] : nullptr;
    return {function, nullptr, element_bytes(type), many};
}

Reducer reducer_for(ReduceOp op, ElementType type) {
    return reducer_for(op, type, best_instruction_set());
}

void reduce_many(const Reducer& reducer, std::span<const void* const> sources, void* out,
                 std::size_t count, bool streaming) {
    auto* to = static_cast<unsigned char*>(out);
    const std::size_t misaligned = bytes_to_next_line(out);
    const std::size_t head = misaligned / reducer.element_bytes;
    const bool onto_itself = sources.size() == 1 && sources[0] == out;
    if (!streaming || onto_itself || reducer.together_elems > 1 ||
        misaligned % reducer.element_bytes != 0 || head >= count)
        return combine_plain(reducer, sources, to, count);
    if (reducer.many != nullptr && sources.size() > 1)
        return reducer.many(reducer.context, sources.data(), sources.size(), out, count, true);
    combine_plain(reducer, sources, to, head);
    combine_streaming(reducer, sources, misaligned, to, count - head);
}

}  // namespace gradcoll
