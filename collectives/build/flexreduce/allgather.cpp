// collectives/build/flexreduce/allgather.cpp - the way down.
#include "collectives/build/flexreduce/allgather.hpp"

#include <algorithm>
#include <iterator>

namespace gradcoll {

bool Allgather::RangesLess::operator()(const std::vector<Range>& a,
                                       const std::vector<Range>& b) const {
    const auto less = [](const Range& x, const Range& y) {
        return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
    };
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), less);
}

void Allgather::encode_owned(const Level& root, const std::vector<Range>& owned) {
    if (owned.empty() || !(root.framed_down || transfer_.spec().feedback)) return;
    const CodecId codec = root.framed_down ? transfer_.spec().down_codec : CodecId::exact;
    transfer_.at(root.number, 0);
    const Parcel parcel = transfer_.parcel(owned, codec);
    for (std::size_t i = 0; i < owned.size(); ++i)
        transfer_.encode(Slot::output(), parcel.pieces[i], owned[i], codec);
    decode(owned, parcel, codec);
    if (root.framed_down) remember(owned, parcel);
}

void Allgather::append(const Level& level) {
    if (level.choice.exchange == Exchange::single) return;  // everybody has everything
    int stage = 1;
    for (const Round& round : allgather_rounds(level.choice.exchange, level.degree, level.branch)) {
        transfer_.at(level.number, stage);
        for (const Hop& hop : round.sends)
            for (const Message& message : messages_of(level, hop)) send(level, message);
        for (const Hop& hop : round.recvs)
            for (const Message& message : messages_of(level, hop)) receive(level, message);
        stage += stages_per_round;
    }
}

void Allgather::receive(const Level& level, const Message& message) {
    if (!level.framed_down) {
        transfer_.recv_values(message, Slot::output());
        return;
    }
    const CodecId codec = transfer_.spec().down_codec;
    const Parcel parcel = transfer_.parcel(message.ranges, codec);
    transfer_.recv(message.peer, parcel.message, whole(message), codec);
    decode(message.ranges, parcel, codec);
    remember(message.ranges, parcel);
}

void Allgather::send(const Level& level, const Message& message) {
    if (level.framed_down)
        transfer_.send(message.peer, gathered(message.ranges), whole(message),
                       transfer_.spec().down_codec);
    else if (message.ranges.size() == 1)
        transfer_.send_values(message, Slot::output());
    else
        transfer_.send(message.peer, packed(message.ranges), whole(message), CodecId::exact);
}

/// Returns a message that holds the encodings of these ranges: an existing one, or a new one.
Slot Allgather::gathered(const std::vector<Range>& ranges) {
    const auto known = framed_.find(ranges);
    if (known != framed_.end()) return known->second;
    const Parcel parcel = transfer_.parcel(ranges, transfer_.spec().down_codec);
    for (std::size_t i = 0; i < ranges.size(); ++i)
        gather(ranges[i], transfer_.steps().extent(parcel.pieces[i]).offset_bytes);
    return framed_.emplace(ranges, parcel.message).first->second;
}

/// Returns a message that holds the values of these ranges: an existing one, or a new one.
Slot Allgather::packed(const std::vector<Range>& ranges) {
    const auto known = raw_.find(ranges);
    if (known != raw_.end()) return known->second;
    const Parcel parcel = transfer_.parcel(ranges, CodecId::exact);
    for (std::size_t i = 0; i < ranges.size(); ++i)
        transfer_.copy(Slot::output(), parcel.pieces[i], ranges[i]);
    return raw_.emplace(ranges, parcel.message).first->second;
}

/// Puts the encoding of `range` together from pieces in scratch. Pieces are cut at granules, where
/// encodings can be cut too.
void Allgather::gather(Range range, std::uint64_t to_bytes) {
    for (std::int64_t at = range.begin; at < range.end;) {
        const auto piece = std::prev(encodings_.upper_bound(at));
        const Range part{at, std::min(range.end, piece->second.end)};
        const std::uint64_t from_bytes = piece->second.offset_bytes + bytes_of(at - piece->first);
        const std::uint64_t size_bytes = bytes_of(part.size());
        transfer_.copy_encoded(from_bytes, to_bytes, size_bytes, part);
        to_bytes += size_bytes;
        at = part.end;
    }
}

void Allgather::remember(const std::vector<Range>& ranges, const Parcel& parcel) {
    framed_.emplace(ranges, parcel.message);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::uint64_t offset = transfer_.steps().extent(parcel.pieces[i]).offset_bytes;
        encodings_[ranges[i].begin] = {ranges[i].end, offset};
    }
}

void Allgather::decode(const std::vector<Range>& ranges, const Parcel& parcel, CodecId codec) {
    for (std::size_t i = 0; i < ranges.size(); ++i)
        transfer_.decode(parcel.pieces[i], Slot::output(), ranges[i], codec);
}

std::uint64_t Allgather::bytes_of(std::int64_t count_elems) const {
    const PlanSpec& spec = transfer_.spec();
    return bound_bytes(spec.down_codec, spec.elem_bytes, static_cast<std::size_t>(count_elems));
}

}  // namespace gradcoll
