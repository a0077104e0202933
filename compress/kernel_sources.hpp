// compress/kernel_sources.hpp - the kernels of all codecs by instruction set, as far as this
// architecture has it.
#pragma once

#include "base/cpu.hpp"
#include "compress/codec_id.hpp"
#include "compress/kernels.hpp"

namespace gradcoll {

struct KernelSource {
    Kernels (*exact)(ElementType);
    Kernels (*bf16)(ElementType);
    Kernels (*nm)(CodecId, ElementType);
};

/// The kernels written for one instruction set; null if this CPU cannot run them. Never null for
/// scalar.
const KernelSource* kernel_source(InstructionSet set);

}  // namespace gradcoll
