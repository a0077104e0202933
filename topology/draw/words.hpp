// topology/draw/words.hpp - names, numbers and links as the drawings write them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// Quotes, backslashes and control characters escaped, so that a name can neither end a string nor
/// start a line.
std::string escaped_name(std::string_view name);

/// "n12-ib0" -> "n#-ib#": what names that differ by numbers only have in common. Of all PCI
/// addresses the same: their digits are hexadecimal.
std::string name_without_numbers(std::string_view name);

/// One name for several that have name_without_numbers() in common: "n[1-3,7]" where one number
/// differs, "n1 ... n7" where several do or the list would be long, and of PCI addresses.
std::string common_name(const std::vector<std::string_view>& names);

/// "n12" -> "n*": a name that stands for those of all copies; "*" for a PCI address.
std::string name_of_copies(std::string_view name);

/// "0-3, 8, 12-60 step 4" in the order given; in ascending order, and saying so, if that would be
/// more than a few pieces.
std::string number_list(std::span<const int> numbers);

/// "12.5 GB/s", "1.5 us", both with the separator between, or nothing if neither is known.
std::string link_figures_text(const Uplink& link, std::string_view separator);

/// "51.2 MiB" (2^20).
std::string bytes_words(double bytes);
/// "12.3 us", "4.1 ms", "2.5 s".
std::string time_words(double us);

}  // namespace gradcoll
