// compress/codec_cuda.cpp - launch_codec_cuda: the kernels of all codecs.
#include "compress/codec_cuda.hpp"

#include "compress/codec_kernels_cuda.hpp"

namespace gradcoll {
namespace {

BatchKernel kernel_of(CodecId codec, ElementType type, CodecWork work) {
    switch (codec) {
        case CodecId::exact:
            return exact_kernel_cuda(type, work);
        case CodecId::nm_1_4:
            return nm_1_4_kernel_cuda(type, work);
        case CodecId::nm_2_4:
            return nm_2_4_kernel_cuda(type, work);
        case CodecId::nm_1_8:
            return nm_1_8_kernel_cuda(type, work);
        case CodecId::nm_2_8:
            return nm_2_8_kernel_cuda(type, work);
        case CodecId::nm_4_8:
            return nm_4_8_kernel_cuda(type, work);
        case CodecId::nm_1_16:
            return nm_1_16_kernel_cuda(type, work);
        case CodecId::bf16:
            return bf16_kernel_cuda(type, work);
    }
    return {};
}

}  // namespace

Status launch_codec_cuda(const CodecLaunch& launch, std::span<const CodecJob> jobs) {
    return launch_codec(kernel_of, CodecForm::by_alignment, launch, jobs);
}

Status launch_codec_cuda_form(CodecForm form, const CodecLaunch& launch,
                              std::span<const CodecJob> jobs) {
    return launch_codec(kernel_of, form, launch, jobs);
}

}  // namespace gradcoll
