// observe/call_site.hpp - which place of the program a call came from (GC_REPORT_CALLSITES).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gradcoll {

/// What is known once, for call_site(): takes memory, so not in a warm call.
void prepare_call_sites();

/// Where the innermost function returns to that belongs neither to this library, nor to an MPI
/// library, nor to the C library; 0: there is none, on a thread that the program did not start.
/// Some microseconds. After prepare_call_sites(); thread safe.
std::uintptr_t call_site();

/// "solve at cg.c:214" where the program addr2line is there and finds a line; else "solve
/// (cg+0x12af)" or "cg+0x12af". One for each site, in their order.
std::vector<std::string> names_of_sites(std::span<const std::uintptr_t> sites);

}  // namespace gradcoll
