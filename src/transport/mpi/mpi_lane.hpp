// transport/mpi/mpi_lane.hpp - a dense array of MPI requests, and the messages that they are
// pieces of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "transport/channel.hpp"
#include "transport/peer_watch.hpp"

namespace gradcoll {

/// An MpiLane sends a message as one MPI message, or, to ranks that cut_messages() named, as
/// several of one tag, each short enough for the MPI library to send it without asking the receiver
/// first. Over TCP the question and the answer wait behind the data that go the same way, and two
/// ranks that send to one another end up doing so by turns (docs/lab.md).
class MpiLane final : public Lane {
  public:
    /// `comm` is the one of the channel. `peers` knows of ranks that have died; it may be null. A
    /// message of `unasked_bytes` leaves over TCP without a
    /// question to the receiver first.
    MpiLane(const Channel& channel, MPI_Comm comm, PeerWatch* peers, std::size_t unasked_bytes,
            std::size_t capacity);
    ~MpiLane() override;

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    Status start_short_send(int peer, int tag, const void* data, std::size_t size_bytes,
                            std::size_t whole_bytes, std::uint32_t cookie) override;
    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    void cut_messages(std::vector<int> peers, CutEnd end) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    std::size_t in_flight() const override { return messages_.size() - free_.size(); }
    void abandon() override;

  private:
    struct Message {
        std::byte* data = nullptr;  ///< memory of sends, too: MPI alone knows that it only reads it
        std::size_t size_bytes = 0;
        std::size_t data_bytes = 0;  ///< length of a send; behind it pieces are empty
        std::size_t piece_bytes = 0;
        std::size_t started_bytes = 0;
        std::size_t moved_bytes = 0;
        std::size_t pieces_in_flight = 0;
        std::uint32_t pieces_started = 0;
        std::uint32_t cookie = 0;
        int peer = -1;
        int tag = -1;
        bool receives = false;
        bool ends_short = false;  ///< whether its last piece is shorter than the others
        bool all_started = false;
        bool arrived = false;  ///< its last piece has just come
    };
    /// Piece says what a request is for.
    struct Piece {
        std::uint32_t message = 0;
        std::uint32_t number = 0;  ///< its number among the pieces of the message
    };

    Status start(Message message);
    Status start_piece(std::uint32_t place, std::size_t index);
    Status finish_piece(std::size_t index, const MPI_Status& status, bool failed);
    std::size_t drop_receives_behind(Piece last, std::size_t tested);
    static const char* call_of(const Message& message);
    Status problem_of(const Message& message, const MPI_Status& status) const;
    void compact();
    void rotate(std::size_t count);
    void cancel_receives();
    void let_go(MPI_Request& request) const;
    void give_up_sends();

    const Channel& channel_;
    MPI_Comm comm_;
    PeerWatch* peers_;
    std::size_t unasked_bytes_;
    std::vector<int> cut_peers_;
    CutEnd cut_end_ = CutEnd::by_length;
    std::vector<MPI_Request>
        requests_;               ///< the first active_ are in flight, in the order of their starts
    std::vector<Piece> pieces_;  ///< one per request
    std::vector<Message> messages_;
    std::vector<std::uint32_t> free_;  ///< places in messages_
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
    std::size_t active_ = 0;
};

/// A ByteType says a number of bytes to MPI: `count` elements of `type`. It frees the type if it
/// made one; MPI keeps it alive for the messages that use it.
class ByteType {
  public:
    /// Returns plain MPI_BYTE, without a call of MPI, for up to INT_MAX bytes, and one element of a
    /// committed derived type for more.
    static Result<ByteType> of(std::size_t size_bytes);
    ByteType(ByteType&& other) noexcept;
    ByteType& operator=(ByteType&&) = delete;
    ~ByteType();

    MPI_Datatype type() const { return type_; }
    int count() const { return count_; }

  private:
    ByteType(MPI_Datatype type, int count) : type_(type), count_(count) {}

    MPI_Datatype type_;
    int count_;
};

}  // namespace gradcoll
