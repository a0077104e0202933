// transport/shm/early_messages.hpp - messages whose receives were not started yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "transport/entries.hpp"
#include "transport/shm/layout.hpp"

namespace gradcoll {

/// EarlyMessages keeps messages for each peer in the order in which they came. Thread safe only
/// from outside.
class EarlyMessages {
  public:
    explicit EarlyMessages(std::size_t peers) : peers_(peers) { pool_.reserve(places_at_first); }

    void keep(int peer, const RecordBody& message);
    /// Takes the oldest one with this group and tag.
    std::optional<RecordBody> take(int peer, std::uint16_t group, int tag);
    /// Takes the oldest one of this group.
    std::optional<RecordBody> take_any(int peer, std::uint16_t group);
    /// Takes the one that its sender announced under this id.
    std::optional<RecordBody> take_announced(int peer, std::uint64_t sender_id);
    /// Returns whether there are so many that no more of the peer's records should be looked at:
    /// what a peer sends without being asked must not grow without bounds here.
    bool is_full(int peer) const;

  private:
    static constexpr std::size_t places_at_first = 256;
    static constexpr std::size_t most_of_a_peer = 16384;

    struct Kept {
        std::uint64_t id = 0;
        std::uint32_t next = no_entry;
        RecordBody message;
    };
    struct Peer {
        EntryList messages;
        std::size_t count = 0;
    };

    template <class Fits>
    std::optional<RecordBody> take_first(int peer, Fits fits);

    EntryPool<Kept> pool_;
    std::vector<Peer> peers_;
};

}  // namespace gradcoll
