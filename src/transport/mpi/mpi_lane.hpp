// transport/mpi/mpi_lane.hpp - a dense array of MPI requests, and the messages that they are
// pieces of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

/// A message is one MPI message, or, to ranks that cut_messages() named, several of one tag: short
/// enough for the MPI library to send them without asking the receiver first. Over TCP the question
/// and the answer wait behind the data that go the same way, and two ranks that send to one another
/// end up doing so by turns (docs/lab.md).
class MpiLane final : public Lane {
  public:
    /// `comm`: the one of the channel. A message of `unasked_bytes` leaves over TCP without a
    /// question to the receiver first.
    MpiLane(const Channel& channel, MPI_Comm comm, std::size_t unasked_bytes, std::size_t capacity);
    ~MpiLane() override;

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    void cut_messages(std::vector<int> peers) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    std::size_t in_flight() const override { return messages_.size() - free_.size(); }
    void abandon() override;

  private:
    struct Message {
        std::byte* data = nullptr;  ///< of sends, too: MPI alone knows that it only reads them
        std::size_t size_bytes = 0;
        std::size_t piece_bytes = 0;
        std::size_t started_bytes = 0;
        std::size_t moved_bytes = 0;
        std::size_t pieces_in_flight = 0;
        std::uint32_t cookie = 0;
        int peer = -1;
        int tag = -1;
        bool receives = false;

        bool has_more() const { return started_bytes < size_bytes; }
    };

    Status start(const Message& message);
    Status start_piece(Message& message, MPI_Request& request);
    std::size_t piece_bytes_to(int peer, std::size_t size_bytes) const;
    Status finish_piece(std::size_t index, const MPI_Status& status, bool failed);
    static const char* call_of(const Message& message);
    Status problem_of(const Message& message, const MPI_Status& status) const;
    void compact();
    void rotate(std::size_t count);
    void cancel_receives();
    void give_up_sends();

    const Channel& channel_;
    MPI_Comm comm_;
    std::size_t unasked_bytes_;
    std::vector<int> cut_peers_;
    std::vector<MPI_Request>
        requests_;  ///< the first active_ are in flight, in the order of their starts
    std::vector<std::uint32_t> messages_of_;  ///< by request: the message that it is a piece of
    std::vector<Message> messages_;
    std::vector<std::uint32_t> free_;  ///< places in messages_
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
    std::size_t active_ = 0;
};

}  // namespace gradcoll
