// compress/codec_cuda.cpp - launch_codec_cuda: the kernels of all codecs.
#include "compress/codec_cuda.hpp"

#include "compress/codec_kernels_cuda.hpp"

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

}  // namespace gradcoll
