// examples/extend/setting/option.cpp - the names and texts of GC_PROFILE.
#include "base/option_table.hpp"

namespace gradcoll {

OptionInfo profile_option_row() {
    return {.variable = "GC_PROFILE",
            .info_key = "gc_profile",
            .default_value = "default",
            .allowed = "default, latency, bandwidth",
            .help = "exchange, chunks and shared memory together, where nothing else sets them"};
}

}  // namespace gradcoll
