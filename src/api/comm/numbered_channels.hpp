// api/comm/numbered_channels.hpp - messages of requests that ranks may start in different orders:
// each has a number of its own, which it is given when it is made. All ranks make their requests in
// one order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "api/comm/private_comm.hpp"
#include "transport/mpi/mpi_channel.hpp"

namespace gradcoll {

/// A private duplicate of a communicator, and its channel.
class NumberedChannel {
  public:
    /// Collective. Errors: transport.
    static Result<std::unique_ptr<NumberedChannel>> make(MPI_Comm parent);

    MPI_Comm comm() const { return comm_.handle(); }
    MpiChannel& channel() { return *channel_; }

  private:
    explicit NumberedChannel(PrivateComm comm) : comm_(std::move(comm)) {}

    PrivateComm comm_;
    std::unique_ptr<MpiChannel> channel_;
};

struct ChannelNumber {
    NumberedChannel* channel = nullptr;
    std::uint32_t number = 0;  ///< the sequence of every operation of the request
};

/// The channels of one communicator. No number is given twice, because ranks free their requests
/// when they like; when those of a channel are used up there is a new channel. All stay to the end.
class NumberedChannels {
  public:
    /// The same on every rank. Collective over `parent`, always the same one. Errors: transport,
    /// unsupported (tags).
    Result<ChannelNumber> next(MPI_Comm parent);

  private:
    std::vector<std::unique_ptr<NumberedChannel>> channels_;
    std::uint32_t left_ = 0;  ///< numbers of the last channel that nobody has
    std::uint32_t numbers_of_one_ = 0;
};

}  // namespace gradcoll
