// case.hpp - one size of one codec: measured beside its peer, and checked.
#pragma once

#include <cstddef>
#include <span>

#include "options.hpp"
#include "row.hpp"
#include "subject.hpp"

namespace gradcoll::bench {

/// Collective; the same row on every rank. `input` holds at least size_bytes; the peer runs on
/// MPI_COMM_WORLD.
Row measure(const Options& options, const Subject& subject, std::size_t size_bytes,
            std::span<const std::byte> input);

}  // namespace gradcoll::bench
