// collectives/verify/structure.cpp - checks that every step is well formed.
#include <fmt/format.h>

#include <cstddef>

#include "collectives/verify/ensemble.hpp"
#include "compress/frame.hpp"

namespace gradcoll::verification {
namespace {

/// Structure checks one rank's schedule; each check returns what is wrong, or nothing.
class Structure {
  public:
    explicit Structure(const Solo& solo) : all_(solo), schedule_(solo.schedule), rank_(solo.rank) {}

    Status check() const {
        for (std::uint32_t i = 0; i < schedule_.steps.size(); ++i) {
            const Step& step = schedule_.steps[i];
            for (const std::string& wrong :
                 {deps(step, i), places(step), extents(step), message(step)})
                if (!wrong.empty()) return broken(rank_, i, wrong);
        }
        return totals();
    }

  private:
    std::string deps(const Step& step, std::uint32_t index) const {
        if (std::size_t{step.first_dep} + step.dep_count > schedule_.deps.size())
            return "dependencies outside the list";
        for (std::uint32_t i = 0; i < step.dep_count; ++i)
            if (schedule_.deps[step.first_dep + i] >= index)
                return "a dependency that does not point backwards";
        return {};
    }

    static bool is_vector(Slot slot) {
        return slot.where() == Space::input || slot.where() == Space::output ||
               slot.where() == Space::work;
    }
    static bool is_scratch(Slot slot) { return slot.where() == Space::scratch; }
    static bool is_somewhere(Slot slot) { return is_vector(slot) || is_scratch(slot); }
    static bool may_be_written(Slot slot) {
        return is_somewhere(slot) && slot.where() != Space::input;
    }

    static bool has_right_places(const Step& step) {
        const bool no_from = step.from.where() == Space::none;
        const bool no_to = step.to.where() == Space::none;
        switch (step.kind) {
            case StepKind::send:
                return is_somewhere(step.from) && no_to;
            case StepKind::recv:
                return no_from && may_be_written(step.to);
            case StepKind::encode:
                return is_vector(step.from) && is_scratch(step.to);
            case StepKind::decode:
            case StepKind::decode_reduce:
            case StepKind::reduce:
                return is_scratch(step.from) && is_vector(step.to) && may_be_written(step.to);
            case StepKind::copy:
                return is_somewhere(step.from) && may_be_written(step.to);
        }
        return false;
    }
    std::string places(const Step& step) const {
        if (!has_right_places(step)) return "a place that this kind of step cannot have";
        const bool reduces = step.kind == StepKind::reduce || step.kind == StepKind::decode_reduce;
        if (step.from_input && !reduces) return "from_input in a step that does not reduce";
        if (step.kind == StepKind::reduce && step.codec != CodecId::exact)
            return "reduce of encoded bytes";
        if (!is_registered(step.codec)) return "an unknown codec";
        return {};
    }

    std::string extents(const Step& step) const {
        if (step.range.begin < 0 || step.range.empty() || step.range.end > schedule_.count_elems)
            return fmt::format("range [{},{}) of {} elements", step.range.begin, step.range.end,
                               schedule_.count_elems);
        if (step.from_input && !fits(Slot::input(), step.range)) return "a range outside the input";
        for (Slot slot : {step.from, step.to}) {
            if (is_scratch(slot) && !slot_fits(slot)) return "a slot outside the scratch";
            if (is_vector(slot) && !fits(slot, step.range)) return "a range outside the buffer";
        }
        for (Slot slot : {step.from, step.to})
            if (is_scratch(slot) && size_of(slot) != expected_bytes(step))
                return fmt::format("a slot of {} bytes for {}", size_of(slot),
                                   expected_bytes(step));
        return {};
    }

    std::uint64_t size_of(Slot slot) const { return schedule_.slots[slot.index].size_bytes; }

    bool slot_fits(Slot slot) const {
        if (slot.index >= schedule_.slots.size()) return false;
        const SlotExtent& extent = schedule_.slots[slot.index];
        return extent.offset_bytes <= schedule_.scratch_bytes &&
               extent.size_bytes <= schedule_.scratch_bytes - extent.offset_bytes;
    }

    /// Returns whether the range is inside its place. The caller's buffers are the whole chunk or
    /// one block of it.
    bool fits(Slot slot, Range range) const {
        const std::int64_t block = schedule_.count_elems / all_.rank_count;
        const auto inside = [&](std::int64_t first, bool is_block) {
            return range.begin >= first &&
                   range.end <= (is_block ? first + block : schedule_.count_elems);
        };
        const Collective collective = all_.spec.collective;
        switch (slot.where()) {
            case Space::input:
                return inside(schedule_.input_first_elem,
                              collective == Collective::allgather && !all_.spec.in_place);
            case Space::output:
                return inside(schedule_.output_first_elem,
                              collective == Collective::reduce_scatter_block);
            case Space::work:
                return static_cast<std::uint64_t>(range.end) * all_.spec.elem_bytes <=
                       schedule_.work_bytes;
            case Space::none:
            case Space::scratch:
                break;
        }
        return false;
    }

    /// Returns the size that a step's scratch slots must have: the most that its elements can take.
    /// Messages may hold several pieces: their tails need no more than a whole would.
    std::uint64_t expected_bytes(const Step& step) const {
        const auto count = static_cast<std::size_t>(step.range.size());
        return bound_bytes(step.codec, all_.spec.elem_bytes, count) +
               (step.peer >= 0 ? frame_front_bytes(step.codec, count) : 0);
    }

    std::string message(const Step& step) const {
        const bool travels = step.kind == StepKind::send || step.kind == StepKind::recv;
        if (!travels) return step.peer == -1 ? "" : "a peer in a local step";
        if (step.peer < 0 || step.peer >= all_.rank_count || step.peer == rank_)
            return "no such peer";
        if (step.stage >= all_.stage_count) return "a stage that is not below stage_count";
        if (step.codec != CodecId::exact && step.from.where() != Space::scratch &&
            step.to.where() != Space::scratch)
            return "a framed message that is not in scratch";
        return {};
    }

    Status totals() const {
        std::uint32_t sends = 0;
        std::uint32_t recvs = 0;
        std::int64_t residual = 0;
        for (const Step& step : schedule_.steps) {
            sends += step.kind == StepKind::send ? 1 : 0;
            recvs += step.kind == StepKind::recv ? 1 : 0;
            if (step.kind == StepKind::encode && all_.spec.feedback) residual += step.range.size();
        }
        if (sends == schedule_.send_count && recvs == schedule_.recv_count &&
            residual == schedule_.residual_elems)
            return {};
        return {Code::internal,
                fmt::format("rank {}: send_count, recv_count or residual_elems is wrong", rank_)};
    }

    const Solo& all_;
    const Schedule& schedule_;
    int rank_;
};

}  // namespace

Status check_structure(const Solo& solo) {
    return Structure(solo).check();
}

}  // namespace gradcoll::verification
