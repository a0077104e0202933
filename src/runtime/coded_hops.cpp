#include "runtime/coded_hops.hpp"

#include <algorithm>

#include "base/round.hpp"
#include "runtime/packed_layout.hpp"

namespace gradcoll {

/// Finder looks at who reads and writes the slots of messages, which tells what their encoded forms
/// are needed for.
class CodedHops::Finder {
  public:
    Finder(CodedHops& made, const Schedule& schedule, std::size_t elem_bytes)
        : made_(made), schedule_(schedule), elem_bytes_(elem_bytes) {
        for (std::uint32_t i = 0; i < schedule.steps.size(); ++i)
            for (const Slot slot : {schedule.steps[i].from, schedule.steps[i].to})
                if (slot.where() == Space::scratch)
                    uses_.push_back({schedule.slots[slot.index].offset_bytes, i});
        std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
            return a.offset_bytes != b.offset_bytes ? a.offset_bytes < b.offset_bytes
                                                    : a.step < b.step;
        });
        find_first_waiting();
    }

    void add(std::uint32_t message) {
        const Step& step = schedule_.steps[message];
        const bool sends = step.kind == StepKind::send;
        const StepKind only = sends ? StepKind::encode : StepKind::decode_reduce;
        if (!find_parts(message, sends ? step.from : step.to, only)) return;
        made_.hops_.resize(schedule_.steps.size());
        sends ? add_send(message) : add_recv(message);
    }

  private:
    struct Use {
        std::uint64_t offset_bytes = 0;
        std::uint32_t step = 0;
    };

    /// Finds for every step the first of those that wait for it, sends left out.
    void find_first_waiting() {
        first_waiting_.assign(schedule_.steps.size(), ~std::uint32_t{0});
        for (std::uint32_t i = static_cast<std::uint32_t>(schedule_.steps.size()); i-- > 0;) {
            const Step& step = schedule_.steps[i];
            if (step.kind == StepKind::send) continue;
            for (std::uint32_t dep = 0; dep < step.dep_count; ++dep)
                first_waiting_[schedule_.deps[step.first_dep + dep]] = i;
        }
    }

    /// Returns whether steps of the kind `only`, and the message itself, are all that use its slot,
    /// for all its elements, and whoever waits for what they read comes behind the message.
    bool find_parts(std::uint32_t message, Slot slot, StepKind only) {
        parts_.clear();
        const Step& step = schedule_.steps[message];
        const SlotExtent& extent = schedule_.slots[slot.index];
        std::int64_t elems = 0;
        auto use = std::lower_bound(
            uses_.begin(), uses_.end(), extent.offset_bytes,
            [](const Use& each, std::uint64_t offset) { return each.offset_bytes < offset; });
        for (; use != uses_.end() && use->offset_bytes < extent.offset_bytes + extent.size_bytes;
             ++use) {
            if (use->step == message) continue;
            const Step& part = schedule_.steps[use->step];
            const bool fits = part.kind == only && part.codec == step.codec && !part.range.empty();
            if (!fits || (only == StepKind::encode && first_waiting_[use->step] < message))
                return false;
            parts_.push_back(use->step);
            elems += part.range.size();
        }
        return !parts_.empty() && elems == step.range.size();
    }

    void add_send(std::uint32_t send) {
        made_.hops_[send] = {0, static_cast<std::uint32_t>(made_.encodes_.size()),
                             static_cast<std::uint32_t>(parts_.size()), Kind::message};
        for (const std::uint32_t encode : parts_) made_.hops_[encode] = {0, send, 0, Kind::encode};
        made_.encodes_.insert(made_.encodes_.end(), parts_.begin(), parts_.end());
    }

    void add_recv(std::uint32_t recv) {
        std::uint64_t at = rounded_up(made_.scratch_bytes_, message_alignment);
        made_.hops_[recv] = {at, 0, 0, Kind::message};
        for (const std::uint32_t part : parts_) {
            made_.hops_[part] = {at, 0, 0, Kind::decoded};
            at += elems_of(schedule_.steps[part]) * elem_bytes_;
        }
        made_.scratch_bytes_ = at;
    }

    CodedHops& made_;
    const Schedule& schedule_;
    std::size_t elem_bytes_;
    std::vector<Use> uses_;  ///< uses of the scratch, in ascending order
    std::vector<std::uint32_t> first_waiting_;
    std::vector<std::uint32_t> parts_;  ///< steps that make or use the message that is looked at
};

CodedHops::CodedHops(const Schedule& schedule, std::size_t elem_bytes, std::uint64_t used_bytes,
                     std::span<const int> peers)
    : scratch_bytes_(used_bytes) {
    if (peers.empty()) return;
    Finder finder(*this, schedule, elem_bytes);
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        const bool is_scratch =
            (step.kind == StepKind::send ? step.from : step.to).where() == Space::scratch;
        if (step.peer >= 0 && step.codec != CodecId::exact && is_scratch &&
            std::binary_search(peers.begin(), peers.end(), step.peer))
            finder.add(i);
    }
}

}  // namespace gradcoll
