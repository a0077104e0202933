// base/outside_options.hpp - what the options of GRADCOLL_EXTEND are called. They are apart from
// OptionId, so that only what asks for one is compiled again where one is added.
#pragma once

#include <cstdint>

#include "base/option_table.hpp"

namespace gradcoll {

/// OutsideOption is in the order of the table, with the numbers after those of OptionId.
enum class OutsideOption : std::uint8_t {
    before_the_first = static_cast<std::uint8_t>(OptionId::built_in_count) - 1,
#define GRADCOLL_ROW(name) name,
#include "option_outside.inc"
#undef GRADCOLL_ROW
    after_the_last
};

constexpr OptionId id_of(OutsideOption option) {
    return static_cast<OptionId>(option);
}

}  // namespace gradcoll
