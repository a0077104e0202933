#include "soak/messages.hpp"

#include "soak/kinds.hpp"

namespace gradcoll::soak {

Messages::Message Messages::rolled(Comms& comms, int tag, Dice& dice) {
    const Comm& comm = comms[dice.below(Comms::slots)];
    const std::uint64_t from = dice.bits();
    const std::uint64_t distance = dice.bits();
    Message message;
    message.key = dice.bits();
    message.receipt = static_cast<Receipt>(dice.below(3));
    message.from_any = dice.once_in(2);
    message.tag = tag;
    message.words.resize(dice.once_in(2) ? dice.below(200) : dice.below(150000));
    if (comm.size() == 1) return message;
    message.comm = comm.handle;
    const auto size = static_cast<std::uint64_t>(comm.size());
    message.from = static_cast<int>(from % size);
    message.to = static_cast<int>((from % size + 1 + distance % (size - 1)) % size);
    message.sends = comm.rank == message.from;
    message.receives = comm.rank == message.to;
    return message;
}

void Messages::start(Comms& comms, Dice& dice) {
    for (std::size_t left = dice.below(4); left > 0; --left) {
        next_tag_ = (next_tag_ + 1) % 30000;  // MPI guarantees tags up to 32767
        Message message = rolled(comms, next_tag_, dice);
        if (message.sends || message.receives) messages_.push_back(std::move(message));
    }
    for (Message& message : messages_) begin(message);
    for (Message& message : messages_)
        if (message.receives && message.receipt == Receipt::waits_before_calls)
            must(MPI_Recv(message.words.data(), message.length(), MPI_UINT64_T, message.source(),
                          message.tag, message.comm, MPI_STATUS_IGNORE),
                 "MPI_Recv before calls");
}

void Messages::begin(Message& message) {
    if (message.sends) {
        for (std::size_t i = 0; i < message.words.size(); ++i)
            message.words[i] = bits_at(message.key, message.from, i);
        must(MPI_Isend(message.words.data(), message.length(), MPI_UINT64_T, message.to,
                       message.tag, message.comm, &message.request),
             "MPI_Isend");
    } else if (message.receipt == Receipt::started_before_calls) {
        must(MPI_Irecv(message.words.data(), message.length(), MPI_UINT64_T, message.source(),
                       message.tag, message.comm, &message.request),
             "MPI_Irecv");
    }
}

void Messages::finish() {
    for (Message& message : messages_) {
        if (message.receives && message.receipt == Receipt::after_calls)
            must(MPI_Recv(message.words.data(), message.length(), MPI_UINT64_T, message.source(),
                          message.tag, message.comm, MPI_STATUS_IGNORE),
                 "MPI_Recv after calls");
    }
    for (Message& message : messages_) {
        must(MPI_Wait(&message.request, MPI_STATUS_IGNORE), "MPI_Wait of a message");
        if (message.receives) check(message);
    }
    messages_.clear();
}

void Messages::check(const Message& message) {
    for (std::size_t i = 0; i < message.words.size(); ++i)
        if (message.words[i] != bits_at(message.key, message.from, i))
            must(MPI_ERR_OTHER, "a message beside the calls, which arrived with other bytes,");
}

}  // namespace gradcoll::soak
