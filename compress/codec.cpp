// compress/codec.cpp - the one place where a codec, an element type and this CPU meet.
#include "compress/codec.hpp"

#include <fmt/format.h>

#include "base/cpu.hpp"
#include "compress/kernel_sources.hpp"

namespace gradcoll {
namespace {

/// The best set that CPU and GC_CPU allow and that we have kernels for.
const KernelSource* best_source() {
    static const KernelSource* const best = [] {
        for (int set = static_cast<int>(best_instruction_set()); set > 0; --set)
            if (const auto* source = kernel_source(static_cast<InstructionSet>(set))) return source;
        return kernel_source(InstructionSet::scalar);
    }();
    return best;
}

const KernelSource* source_of(Isa isa) {
    switch (isa) {
        case Isa::scalar:
            return kernel_source(InstructionSet::scalar);
        case Isa::avx2:
            return kernel_source(InstructionSet::avx2);
        case Isa::avx512:
            return kernel_source(InstructionSet::avx512);
        case Isa::best:
            return best_source();
    }
    return nullptr;
}

Kernels kernels_of(const KernelSource& source, CodecId id, ElementType type) {
    if (id == CodecId::exact) return source.exact(type);
    return id == CodecId::bf16 ? source.bf16(type) : source.nm(id, type);
}

std::string_view types_of(CodecId id) {
    if (id == CodecId::exact) return "all types of known size";
    return id == CodecId::bf16 ? "fp32" : "fp16, bf16, fp32, fp64";
}

}  // namespace

bool isa_available(Isa isa) {
    return source_of(isa) != nullptr;
}

Result<Codec> codec_for(CodecId id, ElementType type) {
    return codec_for(id, type, Isa::best);
}

Result<Codec> codec_for(CodecId id, ElementType type, Isa isa) {
    const KernelSource* source = source_of(isa);
    if (source == nullptr) {
        const std::string_view name = name_of(static_cast<InstructionSet>(isa));
        return Status(Code::unsupported,
                      fmt::format("instruction set {} is not available on this CPU", name));
    }
    const Kernels kernels = kernels_of(*source, id, type);
    if (kernels.encode == nullptr)
        return Status(Code::unsupported,
                      fmt::format("codec {} is not defined for elements of type {}; allowed: {}",
                                  name_of(id), name_of(type), types_of(id)));
    return Codec{
        id, type, kernels.encode, kernels.encode_with_residual, kernels.decode, kernels.decode_sum};
}

}  // namespace gradcoll
