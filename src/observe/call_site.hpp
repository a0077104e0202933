// observe/call_site.hpp - which place of the program a call came from
// (GC_REPORT=json,callsites=on).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gradcoll {

/// Prepares call_site() with what is found out once. It allocates, so it is not for a warm call.
void prepare_call_sites();

/// Returns the address that the innermost function returns to which belongs neither to this
/// library, nor to an MPI library, nor to the C library. Returns 0 if there is none, on a thread
/// that the program did not start. Takes some microseconds. Called after prepare_call_sites();
/// thread safe.
std::uintptr_t call_site();

/// Returns a name for each site, in their order: "solve at cg.c:214" if the program addr2line is
/// there and finds a line; else "solve (cg+0x12af)" or "cg+0x12af".
std::vector<std::string> names_of_sites(std::span<const std::uintptr_t> sites);

}  // namespace gradcoll
