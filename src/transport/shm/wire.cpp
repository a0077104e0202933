#include "transport/shm/wire.hpp"

#include <fmt/format.h>

namespace gradcoll {

PairWire::PairWire(const ShmLayout& layout, int rank, int peer, int peer_name)
    : outbox_(layout.outbox(rank, peer)),
      inbox_(layout.outbox(peer, rank)),
      mine_(layout.feedback(rank, peer)),
      theirs_(layout.feedback(peer, rank)),
      slots_(static_cast<std::uint64_t>(layout.slots())),
      peer_name_(peer_name) {}

void PairWire::fail(std::string_view what) {
    if (fault_.ok())
        fault_ =
            Status(Code::transport, fmt::format("shared memory: rank {}: {}", peer_name_, what));
}

bool PairWire::has_room() {
    if (!fault_.ok()) return false;
    if (pushed_ - known_taken_ < slots_) return true;
    const std::uint64_t taken = theirs_.taken.load(std::memory_order_acquire);
    if (taken < known_taken_ || taken > pushed_) {
        fail(fmt::format("has taken {} records of {}", taken, pushed_));
        return false;
    }
    known_taken_ = taken;
    return pushed_ - known_taken_ < slots_;
}

void PairWire::push(const RecordBody& body) {
    Record& record = outbox_[pushed_ % slots_];
    record.body = body;
    record.turn.store(++pushed_, std::memory_order_release);
}

std::optional<RecordBody> PairWire::take() {
    Record& record = inbox_[taken_ % slots_];
    const std::uint64_t turn = record.turn.load(std::memory_order_acquire);
    if (turn != taken_ + 1) {
        const std::uint64_t before = taken_ < slots_ ? 0 : taken_ + 1 - slots_;
        if (turn != before) fail(fmt::format("record {} says that it is {}", taken_ + 1, turn));
        return std::nullopt;
    }
    const RecordBody body = record.body;
    mine_.taken.store(++taken_, std::memory_order_release);
    return body;
}

std::uint64_t PairWire::inlined_unmatched() {
    const std::uint64_t matched = theirs_.inlined_matched.load(std::memory_order_acquire);
    if (matched > inlined_pushed_)
        fail(fmt::format("has met {} small messages of {}", matched, inlined_pushed_));
    return inlined_pushed_ - matched;
}

void PairWire::release(std::uint32_t cell) {
    const std::uint64_t bits = mine_.released.load(std::memory_order_relaxed);
    mine_.released.store(bits ^ (std::uint64_t{1} << cell), std::memory_order_release);
}

std::uint64_t PairWire::newly_released() {
    const std::uint64_t bits = theirs_.released.load(std::memory_order_acquire);
    const std::uint64_t changed = bits ^ released_seen_;
    released_seen_ = bits;
    return changed;
}

}  // namespace gradcoll
