// api/comm/served_sizes.hpp - the smallest vector that some communicator of this process takes to
// its tree or its shared memory. Whoever keeps short calls away from the library has to know.
#pragma once

#include <cstdint>

namespace gradcoll {

/// Calls with vectors of so many bytes and more are served from now on. Thread safe, as all here.
void serve_from(std::uint64_t bytes);
/// The least that was ever said.
std::uint64_t least_served_bytes();

/// `listener` is called after each fall, by whatever thread. One for the process.
void when_served_sizes_fall(void (*listener)());

}  // namespace gradcoll
