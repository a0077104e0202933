// runtime/block_steps.hpp - the local steps of codecs of variable rate: block by block.
#pragma once

#include "runtime/chunk_view.hpp"
#include "runtime/operation.hpp"

namespace gradcoll {

/// Runs an encode, decode, decode_reduce or copy of encoded blocks. `residual_place` is only
/// looked at for encode steps. Never allocates unless it fails. Errors: corrupt if the codec
/// refuses its input; internal if it writes more than it said, and for other steps.
Status run_block_step(const Step& step, const ChunkView& view, const Operation& operation,
                      std::int64_t residual_place);

/// Returns the error for a payload, of a whole step or of one block, that its codec refuses.
Status refused_payload(const Step& step, Range elems);

}  // namespace gradcoll
