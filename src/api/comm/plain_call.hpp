// api/comm/plain_call.hpp - what the short ways of calls may take for granted: types that this
// thread knows, and buffers about which nothing needs a closer look.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/edge/request.hpp"

namespace gradcoll {

/// Not null, and the host's.
bool is_plain_host_memory(const void* buffer);
/// Both buffers, which are at least `size_bytes` apart, or in place.
bool are_plain_and_apart(const CallArguments& arguments, std::uint64_t size_bytes);

/// Bytes of one element of MPI's own types, whose handles stay what they are; 0 of other types and
/// of those with gaps. Each thread remembers a few.
std::size_t bytes_of_named(MPI_Datatype datatype);

}  // namespace gradcoll
