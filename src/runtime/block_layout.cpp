#include "runtime/block_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/round.hpp"
#include "compress/frame.hpp"

namespace gradcoll {
namespace {

std::uint64_t aligned_for_messages(std::uint64_t bytes) {
    return rounded_up(bytes, std::uint64_t{64});
}

bool travels(const Step& step) {
    return step.peer >= 0;
}

void sort_out(std::vector<std::uint64_t>& offsets) {
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
}

}  // namespace

/// The maker reads from the local steps where blocks are, and composes messages of them.
class BlockLayout::Maker {
  public:
    Maker(const Schedule& schedule, std::size_t elem_bytes)
        : schedule_(schedule), elem_bytes_(elem_bytes) {
        made_.scratch_bytes_ = schedule.scratch_bytes;
    }

    Result<BlockLayout> make() && {
        collect();
        if (rooms_.empty()) return std::move(made_);
        made_.places_.resize(schedule_.slots.size());
        made_.block_count_ = rooms_.size();
        made_.scratch_bytes_ = aligned_for_messages(schedule_.scratch_bytes);
        for (std::uint32_t i = 0; i < schedule_.steps.size(); ++i) GRADCOLL_TRY(place(i));
        return std::move(made_);
    }

  private:
    const SlotExtent& extent(Slot slot) const { return schedule_.slots[slot.index]; }
    std::uint64_t room_bytes(const Step& step) const {
        return bound_bytes(step.codec, elem_bytes_, codec_block_elems(step.codec));
    }

    void collect() {
        for (const Step& step : schedule_.steps) {
            if (travels(step) || has_fixed_rate(step.codec)) continue;
            for (const Slot slot : {step.from, step.to})
                if (slot.where() == Space::scratch) collect(step, extent(slot).offset_bytes);
            if (step.to.where() == Space::scratch) made_at_.push_back(extent(step.to).offset_bytes);
        }
        sort_out(rooms_);
        sort_out(made_at_);
    }

    void collect(const Step& step, std::uint64_t offset) {
        const std::size_t blocks = counted_blocks(step.codec, elems_of(step));
        for (std::size_t i = 0; i < blocks; ++i) rooms_.push_back(offset + i * room_bytes(step));
    }

    Status place(std::uint32_t index) {
        const Step& step = schedule_.steps[index];
        if (has_fixed_rate(step.codec)) return {};
        const std::uint64_t front =
            travels(step) ? frame_front_bytes(step.codec, elems_of(step)) : 0;
        for (const Slot slot : {step.from, step.to}) {
            if (slot.where() != Space::scratch) continue;
            if (!find(step, slot, extent(slot).offset_bytes + front))
                return Status(Code::internal,
                              fmt::format("step {}: its blocks of {} are not those of the steps "
                                          "that make or use them",
                                          index, name_of(step.codec)));
            if (travels(step)) place_message(slot);
            if (step.kind == StepKind::send) count_sent(step);
        }
        return {};
    }

    /// Returns false if the blocks from `offset` on are not one room apart.
    bool find(const Step& step, Slot slot, std::uint64_t offset) {
        const auto first = std::lower_bound(rooms_.begin(), rooms_.end(), offset);
        const std::size_t blocks = counted_blocks(step.codec, elems_of(step));
        if (static_cast<std::size_t>(rooms_.end() - first) < blocks) return false;
        for (std::size_t i = 0; i < blocks; ++i)
            if (first[static_cast<std::ptrdiff_t>(i)] != offset + i * room_bytes(step))
                return false;
        made_.places_[slot.index].first_block = static_cast<std::size_t>(first - rooms_.begin());
        return true;
    }

    void place_message(Slot slot) {
        std::uint64_t& offset = made_.places_[slot.index].message_offset;
        if (offset != 0) return;  // another message of the slot came before
        const auto [begin, size] = extent(slot);
        const auto first = std::lower_bound(made_at_.begin(), made_at_.end(), begin);
        const auto end = std::lower_bound(first, made_at_.end(), begin + size);
        offset = begin;
        if (end - first <= 1) return;
        made_.places_[slot.index].is_put_together = true;
        offset = made_.scratch_bytes_;
        made_.scratch_bytes_ += aligned_for_messages(size);
    }

    void count_sent(const Step& send) {
        Place& place = made_.places_[send.from.index];
        if (std::exchange(place.is_sent, true)) return;
        place.first_sent = made_.sent_count_;
        made_.sent_count_ += counted_blocks(send.codec, elems_of(send));
    }

    const Schedule& schedule_;
    std::size_t elem_bytes_;
    std::vector<std::uint64_t> rooms_;    ///< offsets of the rooms of all blocks
    std::vector<std::uint64_t> made_at_;  ///< where the slots begin that encodings are written to
    BlockLayout made_;
};

Result<BlockLayout> BlockLayout::make(const Schedule& schedule, std::size_t elem_bytes) {
    return Maker(schedule, elem_bytes).make();
}

}  // namespace gradcoll
