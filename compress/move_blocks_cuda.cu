// compress/move_blocks_cuda.cu - encoded blocks moved on a GPU: also to pinned memory of the host,
// which the kernel writes itself.
#include "compress/block_move_job.hpp"
#include "compress/codec_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

Status launch_block_moves_cuda(void* stream, std::span<const BlockMove> moves) {
    return launch_block_moves(OnDevice::kernel<BlockMoveJob>(), stream, moves);
}

}  // namespace gradcoll
