// memory/device_wait.hpp - waiting for a device where there is nothing else to do.
#pragma once

#include "memory/device.hpp"

namespace gradcoll {

/// Looks at the mark until it has passed, and gives the core away in between. Errors: those of
/// DeviceMark::passed.
Status wait_until_passed(DeviceMark& mark);

}  // namespace gradcoll
