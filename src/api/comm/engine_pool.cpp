#include "api/comm/engine_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "api/comm/agreement.hpp"

namespace gradcoll {
namespace {

/// What communicators must have alike.
struct Key {
    std::vector<int> world_ranks;  ///< empty: nobody shares it
    OneHostChoices choices;

    bool operator==(const Key&) const = default;
};

class Pool {
  public:
    /// An engine in use; whoever drops the last copy gives it back.
    using Engine = std::shared_ptr<OneHostEngine>;

    /// One that may be used now; its number, or 0.
    std::uint64_t propose(const Key& key, bool shares, Engine& engine) {
        const std::scoped_lock lock(mutex_);
        for (Entry& entry : entries_)
            if (entry.key == key && !key.world_ranks.empty() && (shares || entry.users == 0)) {
                engine = use(entry);
                return entry.number;
            }
        return 0;
    }
    /// What rank 0 proposed, if it may be used here, too; null if not.
    Engine find(const Key& key, bool shares, std::uint64_t number) {
        const std::scoped_lock lock(mutex_);
        for (Entry& entry : entries_)
            if (entry.number == number && entry.key == key && (shares || entry.users == 0))
                return use(entry);
        return nullptr;
    }
    /// The one for the next new engine whose rank 0 this is.
    std::uint64_t next_number() {
        const std::scoped_lock lock(mutex_);
        return ++last_number_;
    }
    Engine add(Key key, std::uint64_t number, std::unique_ptr<OneHostEngine> engine) {
        const std::scoped_lock lock(mutex_);
        entries_.push_back({std::move(key), number, 0, std::move(engine)});
        return use(entries_.back());
    }

  private:
    struct Entry {
        Key key;
        std::uint64_t number = 0;  ///< unique among those of one key
        int users = 0;
        std::unique_ptr<OneHostEngine> engine;
    };

    Engine use(Entry& entry) {
        ++entry.users;
        return {entry.engine.get(), [this, &entry](OneHostEngine*) { give_back(entry); }};
    }
    /// The oldest that nobody uses go first. Each rank drops by itself: what another rank no longer
    /// has is not used.
    void give_back(Entry& entry) {
        const std::scoped_lock lock(mutex_);
        if (--entry.users > 0) return;
        const auto is_idle = [](const Entry& one) { return one.users == 0; };
        const auto idle = std::count_if(entries_.begin(), entries_.end(), is_idle);
        if (static_cast<std::size_t>(idle) > most_idle_engines)
            entries_.erase(std::find_if(entries_.begin(), entries_.end(), is_idle));
    }

    std::mutex mutex_;
    std::list<Entry> entries_;
    std::uint64_t last_number_ = 0;
};

/// Never destroyed: calls may still come while the process leaves.
Pool& pool() {
    static Pool& pool = *new Pool;
    return pool;
}

/// As rank 0 sends it.
struct Proposal {
    std::uint64_t found = 0;  ///< 0: none
    std::uint64_t next = 0;   ///< of a new one
};

}  // namespace

Result<std::shared_ptr<OneHostEngine>> engine_for(const CommIdentity& comm,
                                                  const OneHostChoices& choices) {
    Key key{comm.world_ranks(), choices};
    const bool shares = comm.no_rank_has_threads();
    std::shared_ptr<OneHostEngine> engine;
    Proposal proposal;
    if (comm.rank() == 0) proposal = {pool().propose(key, shares, engine), pool().next_number()};
    GRADCOLL_TRY(from_mpi(PMPI_Bcast(&proposal, sizeof proposal, MPI_BYTE, 0, comm.private_comm()),
                          "MPI_Bcast"));
    if (proposal.found != 0) {
        if (comm.rank() != 0) engine = pool().find(key, shares, proposal.found);
        const auto all_have = all_ranks(comm.private_comm(), engine != nullptr);
        if (!all_have) return all_have.status();
        if (*all_have) return engine;
    }
    auto made = OneHostEngine::make(comm, choices);
    if (!made) return made.status();
    return pool().add(std::move(key), proposal.next, std::move(made).value());
}

}  // namespace gradcoll
