// settings/topology/options.cpp - where the tree comes from: names and texts.
#include "base/option_table.hpp"

namespace gradcoll {

OptionInfo topology_option_row() {
    return {.variable = "GC_TOPOLOGY",
            .info_key = "gc_topology",
            .default_value = "auto",
            .help = "where the tree comes from"};
}

}  // namespace gradcoll
