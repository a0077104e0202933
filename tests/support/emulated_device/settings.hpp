// emulated_device/settings.hpp - how the emulated devices of this process are, by GC_TEST_DEVICE_*.
#pragma once

#include <string>

namespace gradcoll::emulated {

struct Settings {
    int count = 1;       ///< GC_TEST_DEVICE_COUNT, 1 to 16
    int current = 0;     ///< GC_TEST_DEVICE_NUMBER; "local": the rank on its host, modulo count
    int delay_us = 0;    ///< GC_TEST_DEVICE_DELAY_US: at most, at random, before each piece of work
    bool shares = true;  ///< GC_TEST_DEVICE_SHARE=off: no memory can be shared with processes
    bool readable =
        false;  ///< GC_TEST_DEVICE_READABLE=on: by the CPU, for MPI libraries that reach it
    std::string inactive;  ///< GC_TEST_DEVICE_INACTIVE: why there is no device; empty: there is
};

/// Returns the settings, which are read at the first call. Thread safe.
const Settings& settings();

}  // namespace gradcoll::emulated
