// ways/one_host/host_memory_pool.hpp - shared memory of one host that waits, when its communicator
// is freed, for the next one of the same processes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/comm_identity.hpp"
#include "ways/one_host/host_memory.hpp"

namespace gradcoll {

/// An HostMemoryKey holds what communicators must have alike to follow each other in an engine.
struct HostMemoryKey {
    std::vector<int> world_ranks;  ///< numbers in the world, in the order of ranks; empty: no other
                                   ///< can follow
    OneHostChoices choices;
    Patience patience = with_own_core;  ///< patience of this rank

    bool operator==(const HostMemoryKey&) const = default;
};

/// An HostMemoryReturn ends the use of an engine, which then waits for another communicator.
struct HostMemoryReturn {
    HostMemoryKey key;
    std::uint64_t number = 0;  ///< unique among those of one key

    void operator()(HostMemory* engine) const;
};
using PooledHostMemory = std::unique_ptr<HostMemory, HostMemoryReturn>;

/// Returns an engine that an earlier communicator of the same processes, in the same order, with
/// the same choices, has left, or a new one: programs that make and free communicators pay for
/// memory once. An engine whose ranks have not made the same calls, because some of these were
/// wrong, is not used again. Collective over the communicator, whose ranks are on one host. Errors:
/// those of HostMemory::make().
///
/// At most `most_idle_engines` wait, the youngest. Thread safe.
Result<PooledHostMemory> host_memory_for(const CommIdentity& comm, const OneHostChoices& choices);
inline constexpr std::size_t most_idle_engines = 8;

}  // namespace gradcoll
