// compress/codec_cuda.cu - the kernels of all codecs, and the one that moves encoded blocks: also
// to pinned memory of the host, which it writes itself.
#include "compress/codec_cuda.hpp"

#include "compress/block_move_job.hpp"
#include "compress/codec_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {
namespace {

constexpr CodecKernelOf stages[] = {
#define GRADCOLL_ROW(name) name##_codec_cuda,
#include "codec_cuda_table.inc"
#undef GRADCOLL_ROW
};

BatchKernel kernel_of(CodecId codec, const CodecParameters& parameters, ElementType type,
                      CodecWork work) {
    for (const CodecKernelOf stage : stages)
        if (const BatchKernel kernel = stage(codec, parameters, type, work);
            kernel.launch != nullptr)
            return kernel;
    return {};
}

}  // namespace

bool runs_codec_cuda(CodecId codec, const CodecParameters& parameters, ElementType type) {
    return has_kernels(kernel_of, codec, parameters, type);
}

Status launch_codec_cuda(const CodecLaunch& launch, std::span<const CodecJob> jobs) {
    return launch_codec(kernel_of, CodecForm::by_alignment, launch, jobs);
}

Status launch_codec_cuda_form(CodecForm form, const CodecLaunch& launch,
                              std::span<const CodecJob> jobs) {
    return launch_codec(kernel_of, form, launch, jobs);
}

Status launch_block_moves_cuda(void* stream, std::span<const BlockMove> moves) {
    return launch_block_moves(OnDevice::kernel<BlockMoveJob>(), stream, moves);
}

}  // namespace gradcoll
