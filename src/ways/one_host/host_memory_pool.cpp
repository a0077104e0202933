#include "ways/one_host/host_memory_pool.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <utility>

#include "base/mpi/exchange.hpp"

namespace gradcoll {
namespace {

/// A Pool holds the engines that wait.
class Pool {
  public:
    /// Takes an engine of this key; returns null if there is none.
    PooledHostMemory take(const HostMemoryKey& key) {
        return take_if([&](const HostMemoryReturn& idle) { return idle.key == key; });
    }
    /// Takes the engine that rank 0 took; returns null if this rank has dropped it, which each rank
    /// does by itself.
    PooledHostMemory take(const HostMemoryKey& key, std::uint64_t number) {
        return take_if(
            [&](const HostMemoryReturn& idle) { return idle.number == number && idle.key == key; });
    }
    void put(std::unique_ptr<HostMemory> engine, const HostMemoryReturn& back) {
        const std::scoped_lock lock(mutex_);
        idle_.push_back({std::move(engine), back});
        if (idle_.size() > most_idle_engines) idle_.pop_front();
    }
    /// Returns the number of the next new engine; rank 0 of its communicator asks for it.
    std::uint64_t next_number() {
        const std::scoped_lock lock(mutex_);
        return ++last_number_;
    }

  private:
    struct Idle {
        std::unique_ptr<HostMemory> engine;
        HostMemoryReturn back;
    };

    template <class IsWanted>
    PooledHostMemory take_if(IsWanted&& is_wanted) {
        const std::scoped_lock lock(mutex_);
        const auto found = std::find_if(idle_.begin(), idle_.end(),
                                        [&](const Idle& idle) { return is_wanted(idle.back); });
        if (found == idle_.end()) return {};
        PooledHostMemory engine(found->engine.release(), std::move(found->back));
        idle_.erase(found);
        return engine;
    }

    std::mutex mutex_;
    std::list<Idle> idle_;
    std::uint64_t last_number_ = 0;
};

/// The pool is never destroyed: calls may still come while the process exits.
Pool& pool() {
    static Pool& pool = *new Pool;
    return pool;
}

/// A Proposal is what rank 0 sends to the others.
struct Proposal {
    std::uint64_t found = 0;  ///< number of the engine that rank 0 took; 0: none
    std::uint64_t next = 0;   ///< number of a new engine
};

/// Returns whether all ranks have the engine, and all of them in the same state.
Result<bool> is_alike_everywhere(MPI_Comm comm, const HostMemory* engine) {
    const std::uint64_t state = engine != nullptr ? engine->state() : 0;
    const std::array<std::uint64_t, 3> mine{engine != nullptr ? 1U : 0U, state, ~state};
    const auto least = GRADCOLL_VALUE(combined(comm, MPI_MIN, mine));
    return least[0] != 0 && least[1] == ~least[2];
}

}  // namespace

void HostMemoryReturn::operator()(HostMemory* engine) const {
    std::unique_ptr<HostMemory> ended(engine);
    const bool is_of_no_use = ended->is_broken() || ended->has_dead_peer();
    ended->serve_nobody();
    if (!key.world_ranks.empty() && !is_of_no_use) pool().put(std::move(ended), *this);
}

Result<PooledHostMemory> host_memory_for(const CommIdentity& comm, const OneHostChoices& choices) {
    const HostMemoryKey key{comm.world_ranks(), choices, comm.patience()};
    PooledHostMemory engine;
    Proposal proposal;
    if (comm.rank() == 0) {
        engine = pool().take(key);
        proposal = {engine ? engine.get_deleter().number : 0, pool().next_number()};
    }
    GRADCOLL_TRY(broadcast(comm.private_comm(), proposal));
    if (proposal.found != 0) {
        if (comm.rank() != 0) engine = pool().take(key, proposal.found);
        const auto alike = is_alike_everywhere(comm.private_comm(), engine.get());
        if (!alike) return alike.status();
        if (*alike) {
            engine->serve(comm);
            return engine;
        }
        delete engine.release();
    }
    auto made = HostMemory::make(comm, choices);
    if (!made) return made.status();
    return PooledHostMemory(std::move(made).value().release(), {key, proposal.next});
}

}  // namespace gradcoll
