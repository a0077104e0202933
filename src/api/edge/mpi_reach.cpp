#include "api/edge/mpi_reach.hpp"

#include <dlfcn.h>

#include <string_view>

#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

bool mpi_says_so() {
    using Query = int (*)();
    static const auto query =
        reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
    return query != nullptr && query() == 1;
}

}  // namespace

bool mpi_takes_memory_of(const DevicePlugin& plugin) {
    const std::string_view setting = option_text(OptionId::device_mpi);
    if (setting != "auto") return parse_switch(setting).value();
    return std::string_view(plugin.name) == "CUDA" && mpi_says_so();
}

bool mpi_takes_unserved_memory() {
    const std::string_view setting = option_text(OptionId::device_mpi);
    return setting == "auto" ? mpi_says_so() : parse_switch(setting).value();
}

}  // namespace gradcoll
