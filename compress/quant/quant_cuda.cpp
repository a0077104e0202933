// compress/quant/quant_cuda.cpp - the kernels of the quantizing codecs for the GPU.
#include "compress/codec_kernels_cuda.hpp"
#include "compress/quant/quant_form.hpp"
#include "compress/quant/quant_kernels_cuda.hpp"

namespace gradcoll {
namespace {

/// These lists have the kernels in the order of QuantForm.
using KernelsOfForms = BatchKernel (*[])(ElementType type, CodecWork work);
constexpr KernelsOfForms int4 = {int4_kernel_cuda, dithered_int4_kernel_cuda,
                                 escape_int4_kernel_cuda};
constexpr KernelsOfForms int8 = {int8_kernel_cuda, dithered_int8_kernel_cuda,
                                 escape_int8_kernel_cuda};
constexpr KernelsOfForms int16 = {int16_kernel_cuda, dithered_int16_kernel_cuda,
                                  escape_int16_kernel_cuda};

}  // namespace

BatchKernel quant_codec_cuda(CodecId codec, const CodecParameters& parameters, ElementType type,
                             CodecWork work) {
    const auto form = static_cast<std::size_t>(quant::quant_form_of(parameters));
    switch (codec) {
        case CodecId::int8:
            return int8[form](type, work);
        case CodecId::int4:
            return int4[form](type, work);
        case CodecId::int16:
            return int16[form](type, work);
        default:
            return {};
    }
}

}  // namespace gradcoll
