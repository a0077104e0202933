// topology/draw/words.hpp - names, numbers and links as the drawings write them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// Returns the name with quotes, backslashes and control characters escaped, so that it can neither
/// end a string nor start a line.
std::string escaped_name(std::string_view name);

/// Returns what names that differ only in numbers share: "n12-ib0" becomes "n#-ib#". All PCI
/// addresses give the same text, since their digits are hexadecimal.
std::string name_without_numbers(std::string_view name);

/// Returns one name for several with the same name_without_numbers(): "n[1-3,7]" if one number
/// differs, "n1 ... n7" if several do, if the list would be long, and for PCI addresses.
std::string common_name(const std::vector<std::string_view>& names);

/// Returns the name that stands for those of all copies: "n12" becomes "n*", a PCI address "*".
std::string name_of_copies(std::string_view name);

/// Returns "0-3, 8, 12-60 step 4" in the order given; if that takes more than a few pieces, in
/// ascending order, and says so.
std::string number_list(std::span<const int> numbers);

/// Returns "12.5 GB/s" and "1.5 us" with the separator between them, without a figure that is not
/// known.
std::string link_figures_text(const Uplink& link, std::string_view separator);

/// Returns a text such as "51.2 MiB" (2^20).
std::string bytes_words(double bytes);
/// Returns a text such as "12.3 us", "4.1 ms", "2.5 s".
std::string time_words(double us);

}  // namespace gradcoll
