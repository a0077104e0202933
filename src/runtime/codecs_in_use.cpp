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

void tell_tolerance(Codec& codec, double abs) {
    if (!waits_for_tolerance(codec.id)) return;
    codec.parameters.abs = std::max(abs, std::numeric_limits<double>::min());
    codec.parameters.call_parts = 0;
}

void CodecsInUse::tell_tolerance(double part) {
    for (Codec& codec : codecs_) gradcoll::tell_tolerance(codec, part * loss_parts_of(codec.id));
}

Result<PackersInUse> PackersInUse::of(const Plan& plan) {
    PackersInUse used;
    GRADCOLL_TRY(used.add(plan.body));
    GRADCOLL_TRY(used.add(plan.tail));
    return used;
}

Status PackersInUse::add(const Schedule& schedule) {
    for (const Step& step : schedule.steps) {
        const Packing packing = packing_of(step.codec);
        if (packing == Packing::none || find(packing) != nullptr) continue;
        packers_.push_back(GRADCOLL_VALUE(make_packer(packing)));
    }
    return {};
}

Packer* PackersInUse::find(Packing packing) const {
    const auto found =
        std::find_if(packers_.begin(), packers_.end(),
                     [packing](const auto& packer) { return packer->packing() == packing; });
    return found != packers_.end() ? found->get() : nullptr;
}

}  // namespace gradcoll
