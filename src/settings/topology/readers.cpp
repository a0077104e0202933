// settings/topology/readers.cpp - where the tree comes from: only the text is checked; each
// communicator finds its tree by itself.
#include "settings/setting_table.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {

SettingRow topology_setting_row() {
    return {.check = [](std::string_view text) { return check_written(std::string(text)); },
            .allowed = allowed_forms};
}

}  // namespace gradcoll
