#include "nic/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/round.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t peers_offset = sizeof(NicAgentWords) + sizeof(NicRankWords);
constexpr std::uint32_t most_ranks = 1U << 20;
constexpr std::uint32_t most_slots = 8;
constexpr std::uint32_t least_slots = 4;
constexpr std::uint32_t most_slot_bytes = 128U << 10;
constexpr std::uint32_t least_slot_bytes = 4U << 10;
/// All slots of one direction would have this many bytes if every pair had as much as it can use.
constexpr std::uint64_t usual_bytes = 64U << 20;

/// Returns how many entries a ring has. Every frame under way in one direction has one; to the
/// agent there are counts of consumed frames, too, of which there are at most as many.
std::uint64_t capacity_for(const NicShape& shape) {
    return std::bit_ceil(std::uint64_t{2} * shape.ranks * shape.slots);
}

std::size_t ring_bytes(const NicShape& shape) {
    return rounded_up(sizeof(NicRingWords) + capacity_for(shape) * sizeof(NicEntry), page_bytes);
}

std::size_t own_offset(const NicShape& shape) {
    return peers_offset + std::size_t{shape.ranks} * sizeof(NicPeerWords);
}

std::size_t rings_offset(const NicShape& shape) {
    return rounded_up(own_offset(shape) + std::size_t{shape.ranks} * sizeof(NicOwnWords),
                      page_bytes);
}

std::size_t slots_offset(const NicShape& shape) {
    return rings_offset(shape) + 2 * ring_bytes(shape);
}

std::size_t slots_bytes(const NicShape& shape) {
    return std::size_t{shape.ranks} * shape.slots * shape.slot_bytes;
}

}  // namespace

NicShape NicShape::of(std::uint32_t ranks) {
    NicShape shape;
    shape.ranks = ranks;
    const std::uint64_t of_pair = usual_bytes / std::max(ranks, 1U);
    shape.slots = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(of_pair / most_slot_bytes, least_slots, most_slots));
    shape.slot_bytes = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        std::bit_floor(of_pair / shape.slots), least_slot_bytes, most_slot_bytes));
    return shape;
}

Status NicShape::check() const {
    if (ranks == 0 || ranks > most_ranks || *this != of(ranks))
        return {Code::corrupt,
                fmt::format("shape: {} ranks with {} slots of {} bytes; allowed are 1 to {} ranks "
                            "with what is usual for them",
                            ranks, slots, slot_bytes, most_ranks)};
    return {};
}

NicLayout::NicLayout(std::byte* memory, const NicShape& shape)
    : memory_(memory), shape_(shape), ring_capacity_(capacity_for(shape)) {}

std::size_t NicLayout::size_bytes(const NicShape& shape) {
    return slots_offset(shape) + nic_slots_count * slots_bytes(shape);
}

NicPeerWords& NicLayout::peer(std::uint32_t rank) const {
    return reinterpret_cast<NicPeerWords*>(memory_ + peers_offset)[rank];
}

NicOwnWords& NicLayout::own(std::uint32_t rank) const {
    return reinterpret_cast<NicOwnWords*>(memory_ + own_offset(shape_))[rank];
}

NicRingWords& NicLayout::ring_words(bool to_agent) const {
    return *reinterpret_cast<NicRingWords*>(memory_ + rings_offset(shape_) +
                                            (to_agent ? 0 : ring_bytes(shape_)));
}

NicEntry* NicLayout::ring_entries(bool to_agent) const {
    return reinterpret_cast<NicEntry*>(reinterpret_cast<std::byte*>(&ring_words(to_agent)) +
                                       sizeof(NicRingWords));
}

std::byte* NicLayout::slot(NicSlots which, std::uint32_t peer, std::uint64_t number) const {
    const std::size_t index = std::size_t{peer} * shape_.slots + number % shape_.slots;
    return memory_ + slots_offset(shape_) + static_cast<std::size_t>(which) * slots_bytes(shape_) +
           index * shape_.slot_bytes;
}

}  // namespace gradcoll
