// collectives/build/transfer.cpp - adds steps with their dependencies, and messages as steps.
#include "collectives/build/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/round.hpp"
#include "compress/frame.hpp"

namespace gradcoll {
namespace {

constexpr std::uint64_t message_alignment = 64;

std::uint64_t aligned(std::uint64_t bytes) {
    return rounded_up(bytes, message_alignment);
}

std::size_t count_of(const std::vector<Range>& ranges) {
    std::int64_t count = 0;
    for (const Range& range : ranges) count += range.size();
    return static_cast<std::size_t>(count);
}

}  // namespace

StepList::StepList(const PlanSpec& spec, Schedule schedule)
    : spec_(spec), schedule_(std::move(schedule)) {
    schedule_.scratch_bytes = aligned(schedule_.work_bytes);
}

Slot StepList::message_slot(std::uint64_t size_bytes) {
    const Slot slot = slot_at(schedule_.scratch_bytes, size_bytes);
    schedule_.scratch_bytes += aligned(size_bytes);
    return slot;
}

Slot StepList::slot_at(std::uint64_t offset_bytes, std::uint64_t size_bytes) {
    schedule_.slots.push_back({offset_bytes, size_bytes});
    return Slot::scratch(static_cast<std::uint32_t>(schedule_.slots.size() - 1));
}

void StepList::add(Step step) {
    const auto index = static_cast<std::uint32_t>(schedule_.steps.size());
    const auto deps =
        without_implied(hazards_.record(index, footprint_of(step, geometry_of(schedule_, spec_))));
    step.first_dep = static_cast<std::uint32_t>(schedule_.deps.size());
    most_deps_ = std::max(most_deps_, deps.size());
    step.dep_count = static_cast<std::uint16_t>(deps.size());
    schedule_.deps.insert(schedule_.deps.end(), deps.begin(), deps.end());
    if (step.kind == StepKind::send) ++schedule_.send_count;
    if (step.kind == StepKind::recv) ++schedule_.recv_count;
    if (step.kind == StepKind::encode && spec_.feedback)
        schedule_.residual_elems += step.range.size();
    schedule_.steps.push_back(step);
}

Result<Schedule> StepList::finish() && {
    constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    if (most_deps_ > most)
        return Status(Code::internal,
                      fmt::format("a step waits for {} others: at most {}", most_deps_, most));
    schedule_.steps.shrink_to_fit();
    schedule_.deps.shrink_to_fit();
    schedule_.slots.shrink_to_fit();
    return std::move(schedule_);
}

/// Removes the steps for which another of `deps` waits itself.
std::vector<std::uint32_t> StepList::without_implied(const std::vector<std::uint32_t>& deps) const {
    std::vector<std::uint32_t> implied;
    for (std::uint32_t dep : deps) {
        const Step& step = schedule_.steps[dep];
        const auto first = schedule_.deps.begin() + step.first_dep;
        implied.insert(implied.end(), first, first + step.dep_count);
    }
    std::sort(implied.begin(), implied.end());
    std::vector<std::uint32_t> kept;
    for (std::uint32_t dep : deps)
        if (!std::binary_search(implied.begin(), implied.end(), dep)) kept.push_back(dep);
    return kept;
}

void Transfer::at(std::uint8_t level, int stage) {
    level_ = level;
    stage_ = static_cast<std::uint16_t>(stage);
}

Parcel Transfer::parcel(const std::vector<Range>& ranges, CodecId codec) {
    std::uint64_t bytes = frame_front_bytes(codec, count_of(ranges));
    std::vector<SlotExtent> extents;
    for (const Range& range : ranges) {
        const std::uint64_t size =
            bound_bytes(codec, spec_.elem_bytes, static_cast<std::size_t>(range.size()));
        extents.push_back({bytes, size});
        bytes += size;
    }
    Parcel made{steps_.message_slot(bytes), {}};
    const std::uint64_t base = steps_.extent(made.message).offset_bytes;
    if (extents.size() == 1 && codec == CodecId::exact) {
        made.pieces = {made.message};
        return made;
    }
    for (const SlotExtent& extent : extents)
        made.pieces.push_back(steps_.slot_at(base + extent.offset_bytes, extent.size_bytes));
    return made;
}

Step Transfer::step(StepKind kind, Slot from, Slot to, Range range, CodecId codec) const {
    Step made;
    made.kind = kind;
    made.level = level_;
    made.from = from;
    made.to = to;
    made.range = range;
    made.codec = codec;
    return made;
}

void Transfer::add_message(int peer, Step message) {
    message.peer = peer;
    message.stage = stage_;
    steps_.add(message);
}

void Transfer::send(int peer, Slot from, Range range, CodecId codec) {
    add_message(peer, step(StepKind::send, from, Slot::none(), range, codec));
}

void Transfer::recv(int peer, Slot to, Range range, CodecId codec) {
    add_message(peer, step(StepKind::recv, Slot::none(), to, range, codec));
}

void Transfer::copy(Slot from, Slot to, Range range) {
    steps_.add(step(StepKind::copy, from, to, range, CodecId::exact));
}

void Transfer::encode(Slot from, Slot to, Range range, CodecId codec) {
    steps_.add(step(StepKind::encode, from, to, range, codec));
}

void Transfer::decode(Slot from, Slot to, Range range, CodecId codec) {
    steps_.add(step(StepKind::decode, from, to, range, codec));
}

void Transfer::reduce(Slot from, Slot to, Range range, CodecId codec, bool from_input) {
    Step made = step(codec == CodecId::exact ? StepKind::reduce : StepKind::decode_reduce, from, to,
                     range, codec);
    made.from_input = from_input ? 1 : 0;
    steps_.add(made);
}

void Transfer::copy_encoded(std::uint64_t from_bytes, std::uint64_t to_bytes,
                            std::uint64_t size_bytes, Range range) {
    const Slot from = steps_.slot_at(from_bytes, size_bytes);
    const Slot to = steps_.slot_at(to_bytes, size_bytes);
    steps_.add(step(StepKind::copy, from, to, range, spec_.down_codec));
}

void Transfer::send_values(const Message& message, Slot source) {
    if (message.ranges.size() == 1) {
        send(message.peer, source, message.ranges.front(), CodecId::exact);
        return;
    }
    const Parcel packed = parcel(message.ranges, CodecId::exact);
    for (std::size_t i = 0; i < message.ranges.size(); ++i)
        copy(source, packed.pieces[i], message.ranges[i]);
    send(message.peer, packed.message, whole(message), CodecId::exact);
}

void Transfer::recv_values(const Message& message, Slot target) {
    if (message.ranges.size() == 1) {
        recv(message.peer, target, message.ranges.front(), CodecId::exact);
        return;
    }
    const Parcel packed = parcel(message.ranges, CodecId::exact);
    recv(message.peer, packed.message, whole(message), CodecId::exact);
    for (std::size_t i = 0; i < message.ranges.size(); ++i)
        copy(packed.pieces[i], target, message.ranges[i]);
}

}  // namespace gradcoll
