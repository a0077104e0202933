// collectives/flexreduce/reduce_scatter.cpp - the way up.
#include "collectives/flexreduce/reduce_scatter.hpp"

namespace gradcoll {

struct ReduceScatter::Incoming {
    Message message;
    Parcel parcel;
};

void ReduceScatter::append(const Level& level) {
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

/// Receives come first in the list, so that they are posted early; the sums follow in branch order,
/// so that the order of additions does not depend on who arrives first.
void ReduceScatter::append_round(const Level& level, const Round& round) {
    std::vector<std::vector<Incoming>> incoming;
    for (const Hop& hop : round.recvs) incoming.push_back(receive(level, hop));
    for (const Hop& hop : round.sends) {
        const Slot source = is_in_input(hop.part) ? Slot::input() : sums_;
        for (const Message& message : messages_of(level, hop)) send(level, message, source);
    }
    for (std::size_t i = 0; i < round.recvs.size(); ++i) add(level, round.recvs[i], incoming[i]);
}

std::vector<ReduceScatter::Incoming> ReduceScatter::receive(const Level& level, const Hop& hop) {
    const CodecId codec = level.choice.codec;
    std::vector<Incoming> incoming;
    for (Message& message : messages_of(level, hop)) {
        Parcel parcel = transfer_.parcel(message.ranges, codec);
        transfer_.recv(message.peer, parcel.message, whole(message), codec);
        incoming.push_back({std::move(message), std::move(parcel)});
    }
    return incoming;
}

void ReduceScatter::add(const Level& level, const Hop& hop, const std::vector<Incoming>& incoming) {
    for (const Incoming& in : incoming)
        for (std::size_t i = 0; i < in.message.ranges.size(); ++i)
            transfer_.reduce(in.parcel.pieces[i], sums_, in.message.ranges[i], level.choice.codec,
                             is_in_input(hop.part));
    summed_[static_cast<std::size_t>(hop.part)] = 1;
}

/// With feedback exact messages are encoded too (to plain bytes): the residual's layout then is the
/// same for every codec, and what a lossy call left in it leaves with the next exact one.
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
