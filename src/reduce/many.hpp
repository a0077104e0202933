// reduce/many.hpp - combining any number of vectors in one walk over them.
#pragma once

#include <cstddef>
#include <span>

#include "reduce/reducer.hpp"

namespace gradcoll {

/// Computes out[i] = ((s0[i] op s1[i]) op s2[i]) op ... in exactly this order, hence with the bits
/// of the chain of binary calls (a reducer of somebody else's op may bracket it otherwise, always
/// alike); one source is copied. What lies between the first source and the result
/// stays in the first-level cache.
/// sources: at least one, `count` elements each, no alignment needed; the same one may be there
/// twice. `out` may be one of them (exactly, not shifted), whatever its place; no other overlap.
/// `streaming`: the result is written past the caches, and visible to other cores as after any
/// store when the call returns. For results that are large and not read soon. It does nothing where
/// the CPU has no such stores, where `out` is not aligned to its elements, or for a source that
/// is copied onto itself.
/// Without a function of its own for many, a reducer's elements are of at most reduce_block_bytes.
/// Thread safe. Never allocates. 4 KiB of stack.
void reduce_many(const Reducer& reducer, std::span<const void* const> sources, void* out,
                 std::size_t count, bool streaming);

/// This much of a result is worked on at a time where it cannot be written at once.
inline constexpr std::size_t reduce_block_bytes = 4096;

}  // namespace gradcoll
