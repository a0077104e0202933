// compress/codec.cpp - the one place where a codec, an element type and this CPU meet.
#include "compress/codec.hpp"

#include <fmt/format.h>

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

Kernels kernels_of(const KernelSource& source, CodecId id, ElementType type) {
    if (id == CodecId::exact) return source.exact(type);
    return id == CodecId::bf16 ? source.bf16(type) : source.nm(id, type);
}

std::string_view types_of(CodecId id) {
    if (id == CodecId::exact) return "all types of known size";
    return id == CodecId::bf16 ? "fp32" : "fp16, bf16, fp32, fp64";
}

Result<Codec> codec_from(const KernelSource& source, CodecId id, ElementType type) {
    const Kernels kernels = kernels_of(source, id, type);
    if (kernels.encode == nullptr)
        return Status(Code::unsupported,
                      fmt::format("codec {} is not defined for elements of type {}; allowed: {}",
                                  name_of(id), name_of(type), types_of(id)));
    return Codec{
        id, type, kernels.encode, kernels.encode_with_residual, kernels.decode, kernels.decode_sum};
}

}  // namespace

Result<Codec> codec_for(CodecId id, ElementType type) {
    return codec_from(*best_source(), id, type);
}

Result<Codec> codec_for(CodecId id, ElementType type, InstructionSet set) {
    const KernelSource* source = kernel_source(set);
    if (source == nullptr)
        return Status(Code::unsupported,
                      fmt::format("instruction set {} is not available on this CPU", name_of(set)));
    return codec_from(*source, id, type);
}

bool kernels_available(InstructionSet set) {
    return kernel_source(set) != nullptr;
}

}  // namespace gradcoll
