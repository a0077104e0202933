// compress/codec.cpp - the one place where a codec, an element type and this CPU meet.
#include "compress/codec.hpp"

#include <fmt/format.h>

#include "compress/stage.hpp"

namespace gradcoll {
namespace {

/// Returns the kernels of the set, or of the next lower one that has some.
Kernels kernels_of(const CodecEntry& entry, ElementType type, InstructionSet set) {
    const KernelsBySet& sets = entry.stage->kernels;
    for (int at = static_cast<int>(set); at >= 0; --at) {
        const KernelsOf of = sets[static_cast<std::size_t>(at)];
        if (of == nullptr) continue;
        const Kernels found = of(*entry.member, type);
        if (found.encode != nullptr) return found;
    }
    return {};
}

Result<Codec> codec_of_set(CodecId id, const CodecParameters& parameters, ElementType type,
                           InstructionSet set) {
    const Kernels kernels =
        kernels_of(form_of(codec_entries()[index_of(id)], parameters), type, set);
    if (kernels.encode == nullptr)
        return Status(Code::unsupported,
                      fmt::format("codec {} is not defined for elements of type {}; allowed: {}{}",
                                  name_of(id), name_of(type), types_of(id),
                                  codec_supports(id, type) ? " of known size" : ""));
    return Codec{id, type, parameters, kernels};
}

Result<Codec> codec_of_set(CodecId id, ElementType type, InstructionSet set) {
    if (!is_registered(id))
        return Status(Code::unsupported, fmt::format("no codec has number {}; allowed: {}",
                                                     static_cast<int>(id), allowed_codecs()));
    return codec_of_set(id, parameters_of(id), type, set);
}

}  // namespace

bool kernels_available(InstructionSet set) {
    return cpu_has(set) && cpu_has_for_codecs(set);
}

InstructionSet best_codec_set() {
    static const InstructionSet best = [] {
        InstructionSet found = InstructionSet::scalar;
        for (const InstructionSet set : all_instruction_sets)
            if (set <= best_instruction_set() && kernels_available(set)) found = set;
        return found;
    }();
    return best;
}

Result<Codec> codec_for(CodecId id, ElementType type) {
    return codec_of_set(id, type, best_codec_set());
}

Result<Codec> codec_for(CodecId id, const CodecParameters& parameters, ElementType type) {
    return codec_of_set(plain(id), parameters, type, best_codec_set());
}

Result<Codec> codec_for(CodecId id, ElementType type, InstructionSet set) {
    if (!kernels_available(set))
        return Status(Code::unsupported,
                      fmt::format("instruction set {} is not available on this CPU", name_of(set)));
    return codec_of_set(id, type, set);
}

}  // namespace gradcoll
