#include "fabric/formats.hpp"

#include <algorithm>

#include "fabric/lines.hpp"

namespace gradcoll {

#define GRADCOLL_ROW(name) FabricFormat name##_fabric_format();
#include "fabric_format_table.inc"
#undef GRADCOLL_ROW

/// Returns a table that is never destroyed, since calls may come while the process exits.
const std::vector<FabricFormat>& fabric_formats() {
#define GRADCOLL_ROW(name) name##_fabric_format(),
    static const auto& formats = *new std::vector<FabricFormat>{
#include "fabric_format_table.inc"
    };
#undef GRADCOLL_ROW
    return formats;
}

const FabricFormat* fabric_format_of(std::string_view text) {
    // The second line matters, too: the first line of MPICH's coordinates may be anything.
    std::vector<std::string_view> first;
    for (Lines lines(text); first.size() < 2 && lines.next();) first.push_back(lines.line());
    for (const bool vague : {false, true})
        for (const FabricFormat& format : fabric_formats())
            if (format.vague == vague && std::any_of(first.begin(), first.end(), format.is_line))
                return &format;
    return nullptr;
}

}  // namespace gradcoll
