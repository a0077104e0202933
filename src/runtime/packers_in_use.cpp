#include "runtime/packers_in_use.hpp"

#include <algorithm>
#include <utility>

namespace gradcoll {

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
