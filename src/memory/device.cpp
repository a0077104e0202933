#include "memory/device.hpp"

#include <sched.h>

namespace gradcoll {

Status wait_until_passed(DeviceMark& mark) {
    for (;;) {
        const bool passed = GRADCOLL_VALUE(mark.passed());
        if (passed) return {};
        sched_yield();
    }
}

}  // namespace gradcoll
