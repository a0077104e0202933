// transport/mpi/mpi_lane.hpp - a dense array of MPI requests and what belongs to each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "transport/mpi/mpi_channel.hpp"

namespace gradcoll {

class MpiLane final : public Lane {
  public:
    MpiLane(const MpiChannel& channel, std::size_t capacity);
    ~MpiLane() override;

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    std::size_t in_flight() const override { return active_; }
    void abandon() override;

  private:
    struct Message {
        std::size_t size_bytes = 0;
        std::uint32_t cookie = 0;
        int peer = -1;
        int tag = -1;
        bool receives = false;
    };

    template <class Post>
    Status start(const Message& message, Post post);
    static const char* call_of(const Message& message);
    Completion completion_of(const Message& message, const MPI_Status& status, bool failed) const;
    void compact();
    void rotate(std::size_t count);
    void cancel_receives();
    void give_up_sends();

    const MpiChannel& channel_;
    std::vector<MPI_Request>
        requests_;  ///< the first active_ are in flight, in the order of their messages_
    std::vector<Message> messages_;
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
    std::size_t active_ = 0;
};

}  // namespace gradcoll
