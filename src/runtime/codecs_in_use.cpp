#include "runtime/codecs_in_use.hpp"

#include "runtime/program.hpp"

namespace gradcoll {

Result<CodecsInUse> CodecsInUse::of(const Plan& plan) {
    CodecsInUse used;
    for (const Schedule* schedule : {&plan.body, &plan.tail})
        for (const Step& step : schedule->steps) {
            if (!uses_codec(step.kind) && step.codec == CodecId::exact) continue;
            if (!used.has(step.codec))
                used.codecs_.push_back(GRADCOLL_VALUE(codec_for(step.codec, plan.spec.type)));
        }
    return used;
}

void CodecsInUse::tell_tolerance(double abs) {
    for (Codec& codec : codecs_)
        if (waits_for_tolerance(codec.id)) {
            codec.parameters.abs = abs;
            codec.parameters.by_call = false;
        }
}

}  // namespace gradcoll
