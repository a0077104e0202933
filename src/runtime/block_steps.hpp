// runtime/block_steps.hpp - the local steps of codecs of variable rate: block by block.
#pragma once

#include "runtime/chunk_view.hpp"
#include "runtime/operation.hpp"

namespace gradcoll {

/// Runs an encode, decode, decode_reduce or copy of encoded blocks. `residual`: of an encode step,
/// or null. Never allocates unless it fails. Errors: corrupt if the codec refuses its input;
/// internal if it writes more than it said, and for other steps.
Status run_block_step(const Step& step, const ChunkView& view, const Operation& operation,
                      std::byte* residual);

/// What a step says of a payload that its codec refuses: of the whole step, or of one block.
Status refused_payload(const Step& step, Range elems);

}  // namespace gradcoll
