// collectives/build/flexreduce/reduce_scatter.cpp - the way up.
#include "collectives/build/flexreduce/reduce_scatter.hpp"

#include <algorithm>

namespace gradcoll {

struct ReduceScatter::Incoming {
    Message message;
    Parcel parcel;
};

void ReduceScatter::append(const Level& level) {
    if (level.choice.exchange == Exchange::single) {
        append_single(level);
        from_input_ = false;
        return;
    }
    summed_.assign(static_cast<std::size_t>(level.degree), 0);
    int stage = 0;
    for (const Round& round :
         reduce_scatter_rounds(level.choice.exchange, level.degree, level.branch)) {
        transfer_.at(level.number, stage);
        append_round(level, round);
        stage += stages_per_round;
    }
    from_input_ = false;
}

/// Appends a round. Receives come first in the list, so that they are posted early; the sums follow
/// in branch order, so that the order of additions does not depend on who arrives first.
void ReduceScatter::append_round(const Level& level, const Round& round) {
    std::vector<std::vector<Incoming>> incoming;
    for (const Hop& hop : round.recvs)
        incoming.push_back(receive(messages_of(level, hop), level.choice.codec));
    for (const Hop& hop : round.sends) {
        bring_together(level, hop);
        const Slot source = is_in_input(hop.parts.front()) ? Slot::input() : sums_;
        for (const Message& message : messages_of(level, hop)) send(level, message, source);
    }
    for (std::size_t i = 0; i < round.recvs.size(); ++i) add(level, round.recvs[i], incoming[i]);
}

/// Puts the parts that travel in one message in one place: a part to which nothing was added is
/// copied beside the sums if others of the message are sums.
void ReduceScatter::bring_together(const Level& level, const Hop& hop) {
    const auto in_input = [this](int part) { return is_in_input(part); };
    if (std::all_of(hop.parts.begin(), hop.parts.end(), in_input)) return;
    for (const int part : hop.parts) {
        if (!is_in_input(part)) continue;
        for (const Range& range : ranges_of(level, part))
            transfer_.copy(Slot::input(), sums_of(range), range);
        summed_[static_cast<std::size_t>(part)] = 1;
    }
}

/// Appends a single exchange. Everybody adds in the same order, so everybody ends with the same
/// bits: branch 0's values, then those of 1 and so on. Only sums are written, so the rank's own
/// values wait in scratch for their turn unless they are the first.
void ReduceScatter::append_single(const Level& level) {
    transfer_.at(level.number, 0);
    const Slot source = from_input_ ? Slot::input() : sums_;
    std::vector<std::vector<Incoming>> incoming;
    for (const std::vector<Message>& messages : level.messages.from_branches)
        incoming.push_back(receive(messages, CodecId::exact));
    for (const Message& message : level.messages.sends) transfer_.send_values(message, source);
    const Parcel own = level.branch == 0 ? Parcel{} : held_in_scratch(level.held, source);
    add_in_order(level, incoming, own);
}

Parcel ReduceScatter::held_in_scratch(const std::vector<Range>& held, Slot source) {
    Parcel parcel = transfer_.parcel(held, CodecId::exact);
    for (std::size_t i = 0; i < held.size(); ++i) transfer_.copy(source, parcel.pieces[i], held[i]);
    return parcel;
}

void ReduceScatter::add_in_order(const Level& level,
                                 const std::vector<std::vector<Incoming>>& incoming,
                                 const Parcel& own) {
    for (int branch = 0; branch < level.degree; ++branch) {
        // The rank's own values, if first, are the start of the sum where they are.
        const bool adds_to_own = level.branch == 0 && branch == 1 && from_input_;
        const auto take = [&](Slot from, Range range) {
            if (branch == 0)
                transfer_.copy(from, sums_, range);
            else
                transfer_.reduce(from, sums_, range, CodecId::exact, adds_to_own);
        };
        for (const Incoming& in : incoming[static_cast<std::size_t>(branch)])
            for (std::size_t i = 0; i < in.message.ranges.size(); ++i)
                take(in.parcel.pieces[i], in.message.ranges[i]);
        if (branch == level.branch && branch > 0)
            for (std::size_t i = 0; i < level.held.size(); ++i) take(own.pieces[i], level.held[i]);
    }
}

std::vector<ReduceScatter::Incoming> ReduceScatter::receive(std::vector<Message> messages,
                                                            CodecId codec) {
    std::vector<Incoming> incoming;
    for (Message& message : messages) {
        Parcel parcel = transfer_.parcel(message.ranges, codec);
        transfer_.recv(message.peer, parcel.message, whole(message), codec);
        incoming.push_back({std::move(message), std::move(parcel)});
    }
    return incoming;
}

void ReduceScatter::add(const Level& level, const Hop& hop, const std::vector<Incoming>& incoming) {
    bring_together(level, hop);
    for (const Incoming& in : incoming)
        for (std::size_t i = 0; i < in.message.ranges.size(); ++i)
            transfer_.reduce(in.parcel.pieces[i], sums_of(in.message.ranges[i]),
                             in.message.ranges[i], level.choice.codec,
                             is_in_input(hop.parts.front()));
    for (const int part : hop.parts) summed_[static_cast<std::size_t>(part)] = 1;
}

/// Sends a message. With feedback exact messages are encoded too (to plain bytes): the residual's
/// layout is then the same for every codec, and what a lossy call left in it leaves with the next
/// exact one.
void ReduceScatter::send(const Level& level, const Message& message, Slot source) {
    const CodecId codec = level.choice.codec;
    if (codec == CodecId::exact && !transfer_.spec().feedback) {
        transfer_.send_values(message, source);
        return;
    }
    const Parcel parcel = transfer_.parcel(message.ranges, codec);
    for (std::size_t i = 0; i < message.ranges.size(); ++i)
        transfer_.encode(source, parcel.pieces[i], message.ranges[i], codec);
    transfer_.send(message.peer, parcel.message, whole(message), codec);
}

}  // namespace gradcoll
