// tests/compress/emulated_codecs.cpp - the kernels of GPU codecs on emulated warps.
#include "compress/block_move_job.hpp"
#include "compress/cast/bf16_lane_ops.hpp"
#include "compress/chain/chain_job.hpp"
#include "compress/codec_launch.hpp"
#include "compress/codec_machine.hpp"
#include "compress/exact/exact_lane_ops.hpp"
#include "compress/nm/nm_job.hpp"
#include "compress/quant/escape_job.hpp"
#include "compress/quant/quant_form.hpp"
#include "compress/quant/quant_job.hpp"
#include "support/warp_emulator.hpp"

namespace gradcoll::test {
namespace {

template <class W>
BatchKernel quantizing_kernel(const CodecParameters& parameters, ElementType type, CodecWork work) {
    switch (quant::quant_form_of(parameters)) {
        case quant::QuantForm::with_escapes:
            return quant::escape_kernel_for<OnEmulatedWarps, W>(type, work);
        case quant::QuantForm::by_chance:
            return quant::kernel_for<OnEmulatedWarps, W, quant::ByChance>(type, work);
        case quant::QuantForm::to_nearest:
            break;
    }
    return quant::kernel_for<OnEmulatedWarps, W>(type, work);
}

BatchKernel emulated_codec_kernel(CodecId codec, const CodecParameters& parameters,
                                  ElementType type, CodecWork work) {
    using nm::kernel_for;
    switch (codec) {
        case CodecId::exact:
            return exact_kernel<OnEmulatedWarps>(type, work);
        case CodecId::nm_1_4:
            return kernel_for<OnEmulatedWarps, nm::Shape<1, 4>>(type, work);
        case CodecId::nm_2_4:
            return kernel_for<OnEmulatedWarps, nm::Shape<2, 4>>(type, work);
        case CodecId::nm_1_8:
            return kernel_for<OnEmulatedWarps, nm::Shape<1, 8>>(type, work);
        case CodecId::nm_2_8:
            return kernel_for<OnEmulatedWarps, nm::Shape<2, 8>>(type, work);
        case CodecId::nm_4_8:
            return kernel_for<OnEmulatedWarps, nm::Shape<4, 8>>(type, work);
        case CodecId::nm_1_16:
            return kernel_for<OnEmulatedWarps, nm::Shape<1, 16>>(type, work);
        case CodecId::bf16:
            return bf16_kernel<OnEmulatedWarps>(type, work);
        case CodecId::int8:
            return quantizing_kernel<quant::Width<8>>(parameters, type, work);
        case CodecId::int4:
            return quantizing_kernel<quant::Width<4>>(parameters, type, work);
        case CodecId::int16:
            return quantizing_kernel<quant::Width<16>>(parameters, type, work);
        case CodecId::nm_2_4_int8:
            return chain::kernel_for<OnEmulatedWarps, 2, 8>(type, work);
        case CodecId::nm_1_4_int8:
            return chain::kernel_for<OnEmulatedWarps, 1, 8>(type, work);
        case CodecId::nm_2_4_int4:
            return chain::kernel_for<OnEmulatedWarps, 2, 4>(type, work);
        case CodecId::bound:  // not written for devices
        case CodecId::grid:
        case CodecId::zip:
            break;
    }
    return {};
}

class EmulatedCodecs final : public CodecMachine {
  public:
    Status launch(CodecForm form, const CodecLaunch& launch,
                  std::span<const CodecJob> jobs) override {
        return launch_codec(emulated_codec_kernel, form, launch, jobs);
    }
    Status move(std::span<const BlockMove> moves) override {
        return launch_block_moves(OnEmulatedWarps::kernel<BlockMoveJob>(), nullptr, moves);
    }
    TestMemory& memory() override { return memory_; }

  private:
    HostMemory memory_;
};

}  // namespace

CodecMachine* codec_machine() {
    static EmulatedCodecs machine;
    return &machine;
}

}  // namespace gradcoll::test
