// fabric/host_list.hpp - host names in SLURM's short form, such as tux[0-15,20].
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// Expands "tux[0-15,20],login,r[1-2]n[01-08]" to its names, in order (the last bracket varies
/// fastest); leading zeros are kept. Names hold no spaces, control characters, commas or brackets.
/// `list` is not trusted. Errors: invalid_argument with the column (in bytes, from 1), what was
/// found and what is allowed; more than `max_names` names, or than 64 MiB of them. Source: the man
/// page of scontrol (show hostnames).
Result<std::vector<std::string>> names_of_host_list(std::string_view list,
                                                    std::size_t max_names = 1 << 20);

/// Returns a short list of the names, in their order, such as "s[4-7]". names_of_host_list() reads
/// it back, if it accepts each of the names.
std::string host_list_of(std::span<const std::string> names);

/// Returns such a list for a sentence: a long one is cut.
std::string hosts_in_words(std::span<const std::string> names);

}  // namespace gradcoll
