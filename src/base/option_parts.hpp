// base/option_parts.hpp - values of settings that have parts: "ring,threads=2".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/option_table.hpp"

namespace gradcoll {

/// PartText is what a value says of one option: the whole itself, or one of its parts.
struct PartText {
    OptionId id;
    std::string text;
};

/// Splits a value at its commas. A word such as `threads=2` is for the part that it names; what is
/// left over, with its commas, is the whole's own text. Parts and wholes that take the rest have
/// what follows, commas included. What a value does not name is not in the result. Errors:
/// invalid_argument naming the word that is unknown or said twice, and those that are allowed.
Result<std::vector<PartText>> parts_in(OptionId whole, std::string_view text);

/// Returns the value that says all of it: the whole's own text, and the parts that are not at their
/// defaults.
std::string joined_parts(OptionId whole, const std::function<std::string_view(OptionId)>& text_of);

}  // namespace gradcoll
