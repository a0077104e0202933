#include "transport/shm/early_messages.hpp"

namespace gradcoll {

void EarlyMessages::keep(int peer, const RecordBody& message) {
    Peer& from = peers_[static_cast<std::size_t>(peer)];
    const std::uint32_t index = pool_.take();
    pool_[index].message = message;
    pool_.push_back(from.messages, index);
    ++from.count;
}

template <class Fits>
std::optional<RecordBody> EarlyMessages::take_first(int peer, Fits fits) {
    Peer& from = peers_[static_cast<std::size_t>(peer)];
    const std::uint32_t index =
        pool_.remove_first(from.messages, [&](const Kept& kept) { return fits(kept.message); });
    if (index == no_entry) return std::nullopt;
    const RecordBody message = pool_[index].message;
    pool_.give_back(index);
    --from.count;
    return message;
}

std::optional<RecordBody> EarlyMessages::take(int peer, std::uint16_t group, int tag) {
    return take_first(peer, [&](const RecordBody& message) {
        return message.group == group && message.tag == tag;
    });
}

std::optional<RecordBody> EarlyMessages::take_any(int peer, std::uint16_t group) {
    return take_first(peer, [&](const RecordBody& message) { return message.group == group; });
}

std::optional<RecordBody> EarlyMessages::take_announced(int peer, std::uint64_t sender_id) {
    return take_first(peer, [&](const RecordBody& message) {
        return message.kind == RecordKind::announce && message.note().sender_id == sender_id;
    });
}

bool EarlyMessages::is_full(int peer) const {
    return peers_[static_cast<std::size_t>(peer)].count >= most_of_a_peer;
}

}  // namespace gradcoll
