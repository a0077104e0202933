#include "settings.hpp"

#include <algorithm>
#include <cstdlib>

namespace gradcoll::emulated {
namespace {

std::string text_of(const char* variable) {
    const char* text = std::getenv(variable);
    return text != nullptr ? text : "";
}

int number_of(const char* variable, int otherwise) {
    const std::string text = text_of(variable);
    return text.empty() ? otherwise : std::atoi(text.c_str());
}

/// Returns the rank that Open MPI and MPICH tell.
int rank_on_host() {
    return std::max(number_of("OMPI_COMM_WORLD_LOCAL_RANK", 0), number_of("MPI_LOCALRANKID", 0));
}

Settings read() {
    Settings settings;
    settings.count = std::clamp(number_of("GC_TEST_DEVICE_COUNT", 1), 1, 16);
    const bool local = text_of("GC_TEST_DEVICE_NUMBER") == "local";
    const int number = local ? rank_on_host() : number_of("GC_TEST_DEVICE_NUMBER", 0);
    settings.current = std::max(number, 0) % settings.count;
    settings.delay_us = std::max(number_of("GC_TEST_DEVICE_DELAY_US", 0), 0);
    settings.shares = text_of("GC_TEST_DEVICE_SHARE") != "off";
    settings.readable = text_of("GC_TEST_DEVICE_READABLE") == "on";
    settings.inactive = text_of("GC_TEST_DEVICE_INACTIVE");
    return settings;
}

}  // namespace

const Settings& settings() {
    static const Settings& settings = *new Settings(read());
    return settings;
}

}  // namespace gradcoll::emulated
