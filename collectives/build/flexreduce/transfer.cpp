// collectives/build/flexreduce/transfer.cpp - how one message becomes steps.
#include "collectives/build/flexreduce/transfer.hpp"

#include "compress/frame.hpp"

namespace gradcoll {

void Transfer::at(std::uint8_t level, int stage) {
    level_ = level;
    stage_ = static_cast<std::uint16_t>(stage);
}

Parcel Transfer::parcel(const std::vector<Range>& ranges, CodecId codec) {
    std::uint64_t bytes = codec == CodecId::exact ? 0 : frame_header_bytes;
    std::vector<SlotExtent> extents;
    for (const Range& range : ranges) {
        const std::uint64_t size =
            encoded_bytes(codec, spec_.elem_bytes, static_cast<std::size_t>(range.size()));
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

Step Transfer::step(StepKind kind, Slot from, Slot to, Range range) const {
    Step made;
    made.kind = kind;
    made.level = level_;
    made.from = from;
    made.to = to;
    made.range = range;
    return made;
}

void Transfer::send(int peer, Slot from, Range range, CodecId codec) {
    Step made = step(StepKind::send, from, Slot::none(), range);
    made.peer = peer;
    made.codec = codec;
    made.stage = stage_;
    steps_.add(made);
}

void Transfer::recv(int peer, Slot to, Range range, CodecId codec) {
    Step made = step(StepKind::recv, Slot::none(), to, range);
    made.peer = peer;
    made.codec = codec;
    made.stage = stage_;
    steps_.add(made);
}

void Transfer::copy(Slot from, Slot to, Range range) {
    steps_.add(step(StepKind::copy, from, to, range));
}

void Transfer::encode(Slot from, Slot to, Range range, CodecId codec) {
    Step made = step(StepKind::encode, from, to, range);
    made.codec = codec;
    steps_.add(made);
}

void Transfer::decode(Slot from, Slot to, Range range, CodecId codec) {
    Step made = step(StepKind::decode, from, to, range);
    made.codec = codec;
    steps_.add(made);
}

void Transfer::reduce(Slot from, Slot to, Range range, CodecId codec, bool from_input) {
    Step made =
        step(codec == CodecId::exact ? StepKind::reduce : StepKind::decode_reduce, from, to, range);
    made.codec = codec;
    made.from_input = from_input ? 1 : 0;
    steps_.add(made);
}

void Transfer::copy_encoded(std::uint64_t from_bytes, std::uint64_t to_bytes,
                            std::uint64_t size_bytes, Range range) {
    const Slot from = steps_.slot_at(from_bytes, size_bytes);
    const Slot to = steps_.slot_at(to_bytes, size_bytes);
    Step made = step(StepKind::copy, from, to, range);
    made.codec = spec_.down_codec;
    steps_.add(made);
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
