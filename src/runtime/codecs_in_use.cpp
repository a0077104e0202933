#include "runtime/codecs_in_use.hpp"

#include <limits>

#include "runtime/program.hpp"

namespace gradcoll {

Result<CodecsInUse> CodecsInUse::of(const Plan& plan) {
    CodecsInUse used;
    for (const Schedule* schedule : {&plan.body, &plan.tail})
        for (const Step& step : schedule->steps) {
            if (!uses_codec(step.kind) && step.codec == CodecId::exact) continue;
            GRADCOLL_TRY(used.add(step.codec, plan.spec.type));
            GRADCOLL_TRY(used.add(CodecId::exact, plan.spec.type));
        }
    return used;
}

Status CodecsInUse::add(CodecId codec, ElementType type) {
    if (!has(codec)) codecs_.push_back(GRADCOLL_VALUE(codec_for(codec, type)));
    return {};
}

/// Never sets a tolerance of 0, which is as good as none: a codec with none may be one of another
/// rate.
void CodecsInUse::tell_tolerance(double part) {
    constexpr double least = std::numeric_limits<double>::min();
    for (Codec& codec : codecs_)
        if (waits_for_tolerance(codec.id)) {
            codec.parameters.abs = std::max(part * loss_parts_of(codec.id), least);
            codec.parameters.call_parts = 0;
        }
}

}  // namespace gradcoll
