#include "memory/device.hpp"

#include <sched.h>

namespace gradcoll {

Status wait_until_passed(DeviceMark& mark) {
    for (;;) {
        const Result<bool> passed = mark.passed();
        if (!passed.ok()) return passed.status();
        if (*passed) return {};
        sched_yield();
    }
}

}  // namespace gradcoll
