#include "runtime/coded_hops.hpp"

#include <algorithm>

#include "base/round.hpp"
#include "runtime/packed_layout.hpp"

namespace gradcoll {
namespace {

constexpr std::uint32_t no_step = ~std::uint32_t{0};

bool is_in_scratch(Slot slot) {
    return slot.where() == Space::scratch;
}

}  // namespace

std::uint64_t CodedHops::take_scratch(std::uint64_t size_bytes) {
    const std::uint64_t at = rounded_up(scratch_bytes_, message_alignment);
    scratch_bytes_ = at + size_bytes;
    return at;
}

/// Finder looks at who reads and writes the slots of messages, which tells what their encoded forms
/// are needed for.
class CodedHops::Finder {
  public:
    Finder(CodedHops& made, const Schedule& schedule, std::size_t elem_bytes)
        : made_(made), schedule_(schedule), elem_bytes_(elem_bytes) {
        for (std::uint32_t i = 0; i < schedule.steps.size(); ++i)
            for (const Slot slot : {schedule.steps[i].from, schedule.steps[i].to})
                if (is_in_scratch(slot))
                    uses_.push_back({schedule.slots[slot.index].offset_bytes, i});
        std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
            return a.offset_bytes != b.offset_bytes ? a.offset_bytes < b.offset_bytes
                                                    : a.step < b.step;
        });
        find_first_waiting();
    }

    /// Adds a message of the way up; false if it is none.
    bool add_up(std::uint32_t message) {
        const bool sends = schedule_.steps[message].kind == StepKind::send;
        if (!find_parts(message, sends ? StepKind::encode : StepKind::decode_reduce)) return false;
        if (sends)
            add_up_send(message);
        else if (adds_at_once(message))
            land(message);
        else
            add_recv(message);
        return true;
    }

    /// Adds a receive of the way down, which is only decoded. If that is one step, the elements
    /// come to where it would put them, and the receive waits for what the step would wait for.
    bool add_down_recv(std::uint32_t recv) {
        if (!find_parts(recv, StepKind::decode)) return false;
        if (parts_.size() > 1) {
            add_recv(recv);
            return true;
        }
        land(recv);
        const Step& step = schedule_.steps[parts_.front()];
        for (std::uint32_t i = 0; i < step.dep_count; ++i)
            if (const std::uint32_t dep = schedule_.deps[step.first_dep + i]; dep != recv)
                made_.waits_.push_back({recv, dep});
        return true;
    }

    /// Calls `visit(step)` for all that use slots that begin inside that of the message, the
    /// message left out, in the order of their slots.
    template <class Visit>
    void for_uses(std::uint32_t message, Slot slot, Visit visit) const {
        const SlotExtent& extent = schedule_.slots[slot.index];
        auto use = std::lower_bound(
            uses_.begin(), uses_.end(), extent.offset_bytes,
            [](const Use& each, std::uint64_t offset) { return each.offset_bytes < offset; });
        for (; use != uses_.end() && use->offset_bytes < extent.offset_bytes + extent.size_bytes;
             ++use)
            if (use->step != message) visit(use->step);
    }

  private:
    struct Use {
        std::uint64_t offset_bytes = 0;
        std::uint32_t step = 0;
    };

    /// Finds for every step the first of those that wait for it, sends left out.
    void find_first_waiting() {
        first_waiting_.assign(schedule_.steps.size(), no_step);
        for (std::uint32_t i = static_cast<std::uint32_t>(schedule_.steps.size()); i-- > 0;) {
            const Step& step = schedule_.steps[i];
            if (step.kind == StepKind::send) continue;
            for (std::uint32_t dep = 0; dep < step.dep_count; ++dep)
                first_waiting_[schedule_.deps[step.first_dep + dep]] = i;
        }
    }

    /// Returns whether steps of the kind `only`, and the message itself, are all that use its slot,
    /// for all its elements, and whoever waits for what they read comes behind the message.
    bool find_parts(std::uint32_t message, StepKind only) {
        parts_.clear();
        const Step& step = schedule_.steps[message];
        std::int64_t elems = 0;
        bool all_fit = true;
        for_uses(message, step.kind == StepKind::send ? step.from : step.to, [&](std::uint32_t i) {
            const Step& part = schedule_.steps[i];
            all_fit &= part.kind == only && part.codec == step.codec && !part.range.empty() &&
                       (only != StepKind::encode || first_waiting_[i] >= message);
            parts_.push_back(i);
            elems += part.range.size();
        });
        return all_fit && !parts_.empty() && elems == step.range.size();
    }

    void add_up_send(std::uint32_t send) {
        made_.hops_[send] = {0, static_cast<std::uint32_t>(made_.runs_.size()),
                             static_cast<std::uint32_t>(parts_.size()), Kind::message};
        for (const std::uint32_t encode : parts_) {
            made_.hops_[encode] = {0, send, 0, Kind::encode};
            made_.runs_.push_back({schedule_.steps[encode].from, schedule_.steps[encode].range});
        }
    }

    /// Returns whether all of a message is added by one step that waits for nothing else: then the
    /// receive can add, and waits for nothing, either.
    bool adds_at_once(std::uint32_t recv) const {
        const Step& add = schedule_.steps[parts_.front()];
        return parts_.size() == 1 && add.dep_count == 1 && schedule_.deps[add.first_dep] == recv;
    }

    /// Lets the elements of a receive come to where the only step that uses them would put them.
    void land(std::uint32_t recv) {
        made_.hops_[recv] = {0, parts_.front(), 0, Kind::landing};
        made_.hops_[parts_.front()] = {0, 0, 0, Kind::idle};
    }

    void add_recv(std::uint32_t recv) {
        const auto bytes = elems_of(schedule_.steps[recv]) * elem_bytes_;
        std::uint64_t at = made_.take_scratch(bytes);
        made_.hops_[recv] = {at, 0, 0, Kind::message};
        for (const std::uint32_t part : parts_) {
            made_.hops_[part] = {at, 0, 0, Kind::decoded};
            at += elems_of(schedule_.steps[part]) * elem_bytes_;
        }
    }

    CodedHops& made_;
    const Schedule& schedule_;
    std::size_t elem_bytes_;
    std::vector<Use> uses_;  ///< uses of the scratch, in ascending order
    std::vector<std::uint32_t> first_waiting_;
    std::vector<std::uint32_t> parts_;  ///< steps that make or use the message that is looked at
};

/// WayDown finds what this rank encodes as an owner, and the messages that have it. They read the
/// elements themselves, which must therefore stay until all have left: decoding, which changes
/// them, waits for that. Where every such message is coded, nobody here encodes, and what decoding
/// gives comes back with some messages that have each element once.
class CodedHops::WayDown {
  public:
    WayDown(CodedHops& made, const Schedule& schedule, std::size_t elem_bytes, const Finder& finder)
        : made_(made), schedule_(schedule), elem_bytes_(elem_bytes), finder_(finder) {
        find_owned();
    }

    /// Looks at a send that is none of the way up. `is_coded`: its way encodes.
    void add(std::uint32_t send, bool is_coded) {
        const Step& step = schedule_.steps[send];
        std::vector<Run> runs;
        std::vector<std::uint32_t> copies;
        std::int64_t elems = 0;
        finder_.for_uses(send, step.from, [&](std::uint32_t i) {
            const Step& part = schedule_.steps[i];
            const bool is_made_here = is_in_scratch(part.to) && is_inside(part.to, step.from);
            if (!is_made_here || part.codec != step.codec) return;
            if (part.kind == StepKind::copy) copies.push_back(i);
            if (part.kind != StepKind::copy && owned_at(part.range.begin) == nullptr) return;
            runs.push_back({Slot::output(), part.range});
            elems += part.range.size();
        });
        const bool is_owned = elems == step.range.size() &&
                              std::all_of(runs.begin(), runs.end(), [&](const Run& run) {
                                  const Owned* const owned = owned_at(run.range.begin);
                                  return owned != nullptr && run.range.end <= owned->range.end;
                              });
        if (!is_owned) return;
        if (!is_coded) {
            some_are_encoded_here_ = true;
            return;
        }
        made_.hops_[send] = {0, static_cast<std::uint32_t>(made_.runs_.size()),
                             static_cast<std::uint32_t>(runs.size()), Kind::message};
        made_.runs_.insert(made_.runs_.end(), runs.begin(), runs.end());
        sends_.push_back(send);
        copies_.insert(copies_.end(), copies.begin(), copies.end());
    }

    /// Says what becomes of the other steps, when all sends are added.
    void end() {
        for (const std::uint32_t send : sends_)
            for (const Owned& each : owned_) made_.waits_.push_back({each.decode, send});
        if (sends_.empty() || some_are_encoded_here_ || !find_echoing()) return;
        const bool in_place = sends_.size() == 1;
        for (Owned& each : owned_) {
            made_.hops_[each.encode] = {0, 0, 0, Kind::idle};
            if (in_place) {
                made_.hops_[each.decode] = {0, 0, 0, Kind::idle};
            } else {
                each.echo = made_.take_scratch(bytes_of(each.range));
                made_.hops_[each.decode] = {each.echo, 0, 0, Kind::decoded};
            }
        }
        for (const std::uint32_t copy : copies_) made_.hops_[copy] = {0, 0, 0, Kind::idle};
        for (const std::uint32_t send : echoing_)
            for (std::uint32_t i = 0; i < made_.hops_[send].count; ++i)
                echo(made_.runs_[made_.hops_[send].first + i], in_place);
    }

  private:
    struct Owned {
        Range range;
        std::uint32_t encode = 0, decode = 0;
        std::uint64_t echo = 0;  ///< where what decoding gives of it comes to in the scratch
    };

    /// Finds the encode steps whose encodings are decoded here, ascending by their elements.
    void find_owned() {
        std::vector<std::uint32_t> encode_of(schedule_.slots.size(), no_step);
        for (std::uint32_t i = 0; i < schedule_.steps.size(); ++i) {
            const Step& step = schedule_.steps[i];
            if (step.kind == StepKind::encode && step.codec != CodecId::exact)
                encode_of[step.to.index] = i;
            if (step.kind == StepKind::decode && encode_of[step.from.index] != no_step)
                owned_.push_back({step.range, encode_of[step.from.index], i});
        }
        std::sort(owned_.begin(), owned_.end(),
                  [](const Owned& a, const Owned& b) { return a.range.begin < b.range.begin; });
    }

    const Owned* owned_at(std::int64_t elem) const {
        for (const Owned& each : owned_)
            if (each.range.begin <= elem && elem < each.range.end) return &each;
        return nullptr;
    }

    bool is_inside(Slot inner, Slot outer) const {
        const SlotExtent& in = schedule_.slots[inner.index];
        const SlotExtent& out = schedule_.slots[outer.index];
        return in.offset_bytes >= out.offset_bytes &&
               in.offset_bytes + in.size_bytes <= out.offset_bytes + out.size_bytes;
    }

    std::uint64_t bytes_of(Range range) const {
        return static_cast<std::uint64_t>(range.size()) * elem_bytes_;
    }

    /// Finds sends that have each owned element once; false if there are none.
    bool find_echoing() {
        std::vector<Range> taken;
        std::int64_t elems = 0, all = 0;
        for (const Owned& each : owned_) all += each.range.size();
        for (const std::uint32_t send : sends_) {
            const std::span<const Run> runs = made_.runs_of(send);
            const bool is_new = std::none_of(runs.begin(), runs.end(), [&](const Run& run) {
                return std::any_of(taken.begin(), taken.end(), [&](const Range& each) {
                    return run.range.begin < each.end && each.begin < run.range.end;
                });
            });
            if (!is_new) continue;
            echoing_.push_back(send);
            for (const Run& run : runs) {
                taken.push_back(run.range);
                elems += run.range.size();
            }
        }
        return elems == all;
    }

    void echo(Run& run, bool in_place) const {
        run.echo = in_place ? Run::Echo::in_place : Run::Echo::in_scratch;
        if (in_place) return;
        const Owned& owned = *owned_at(run.range.begin);
        run.echo_offset_bytes = owned.echo + bytes_of({owned.range.begin, run.range.begin});
    }

    CodedHops& made_;
    const Schedule& schedule_;
    std::size_t elem_bytes_;
    const Finder& finder_;
    std::vector<Owned> owned_;
    std::vector<std::uint32_t> sends_;    ///< coded sends of what is owned
    std::vector<std::uint32_t> copies_;   ///< steps that put such a send together
    std::vector<std::uint32_t> echoing_;  ///< sends with which what decoding gives comes back
    bool some_are_encoded_here_ = false;
};

CodedHops::CodedHops(const Schedule& schedule, std::size_t elem_bytes, std::uint64_t used_bytes,
                     const Among& among)
    : scratch_bytes_(used_bytes) {
    if (among.peers.empty()) return;
    hops_.resize(schedule.steps.size());
    Finder finder(*this, schedule, elem_bytes);
    WayDown down(*this, schedule, elem_bytes, finder);
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        const bool sends = step.kind == StepKind::send;
        if (step.peer < 0 || step.codec == CodecId::exact ||
            !is_in_scratch(sends ? step.from : step.to))
            continue;
        const bool is_coded = std::binary_search(among.peers.begin(), among.peers.end(), step.peer);
        if (is_coded && finder.add_up(i)) continue;
        if (!among.encodings_go_one_hop) continue;
        if (sends)
            down.add(i, is_coded);
        else if (is_coded)
            finder.add_down_recv(i);
    }
    down.end();
    const auto is_any = [](const Hop& hop) { return hop.kind != Kind::none; };
    if (std::none_of(hops_.begin(), hops_.end(), is_any)) hops_.clear();
}

}  // namespace gradcoll
