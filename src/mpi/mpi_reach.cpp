#include "mpi/mpi_reach.hpp"

#include <dlfcn.h>

#include <optional>
#include <string_view>

#include "base/options.hpp"
#include "base/text.hpp"
#include "device/devices.hpp"

namespace gradcoll {
namespace {

/// Returns nothing if the library cannot be asked.
std::optional<bool> answer_of_mpi() {
    using Query = int (*)();
    static const auto query =
        reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
    if (query == nullptr) return {};
    return query() == 1;
}

/// Returns nothing if the setting leaves it to the library.
std::optional<bool> setting() {
    const std::string_view text = option_text(OptionId::device_mpi);
    if (text == "auto") return {};
    return parse_switch(text).value();
}

bool is_about_cuda(const DevicePlugin& plugin) {
    return std::string_view(plugin.name) == "CUDA";
}

}  // namespace

bool mpi_takes_memory_of(const DevicePlugin& plugin) {
    return setting().value_or(is_about_cuda(plugin) && answer_of_mpi().value_or(false));
}

bool mpi_takes_unserved_memory() {
    return setting().value_or(answer_of_mpi().value_or(false));
}

bool mpi_refuses_memory_of(const DevicePlugin& plugin) {
    return !setting().value_or(is_about_cuda(plugin) && answer_of_mpi().value_or(true));
}

bool may_have_memory_that_mpi_refuses() {
    const Devices& devices = Devices::of_process();
    if (!devices.may_meet_devices()) return false;
    const DevicePlugin* const plugin = devices.plugin();
    if (plugin != nullptr) return mpi_refuses_memory_of(*plugin);
    return !setting().value_or(answer_of_mpi().value_or(true));
}

}  // namespace gradcoll
