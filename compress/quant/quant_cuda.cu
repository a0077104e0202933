// compress/quant/quant_cuda.cu - the kernels of the quantizing codecs for the GPU.
#include "compress/codec_kernels_cuda.hpp"
#include "compress/quant/quant_form.hpp"
#include "compress/quant/quant_job.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll::quant {

/// escape_kernel.cu has the instances.
template <class Launcher, class W>
BatchKernel escape_kernel_for(ElementType type, CodecWork work);

namespace {

template <class W>
BatchKernel kernel_of_form(const CodecParameters& parameters, ElementType type, CodecWork work) {
    switch (quant_form_of(parameters)) {
        case QuantForm::with_escapes:
            return escape_kernel_for<OnDevice, W>(type, work);
        case QuantForm::by_chance:
            return kernel_for<OnDevice, W, ByChance>(type, work);
        case QuantForm::to_nearest:
            break;
    }
    return kernel_for<OnDevice, W>(type, work);
}

}  // namespace
}  // namespace gradcoll::quant

namespace gradcoll {

BatchKernel quant_codec_cuda(CodecId codec, const CodecParameters& parameters, ElementType type,
                             CodecWork work) {
    switch (codec) {
        case CodecId::int8:
            return quant::kernel_of_form<quant::Width<8>>(parameters, type, work);
        case CodecId::int4:
            return quant::kernel_of_form<quant::Width<4>>(parameters, type, work);
        case CodecId::int16:
            return quant::kernel_of_form<quant::Width<16>>(parameters, type, work);
        default:
            return {};
    }
}

}  // namespace gradcoll
