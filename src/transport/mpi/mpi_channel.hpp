// transport/mpi/mpi_channel.hpp - bytes over MPI point-to-point messages.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/mpi/mpi.hpp"
#include "transport/channel.hpp"
#include "transport/peer_watch.hpp"

namespace gradcoll {

/// An MpiChannel takes all traffic of `comm`, which should be a private duplicate: nobody else may
/// use its tags. It does not own `comm`, which must outlive the channel and its lanes, and must
/// have MPI_ERRORS_RETURN set, or errors never reach us. (MPICH 4.0 raises those of MPI_Testsome on
/// MPI_COMM_WORLD.)
class MpiChannel final : public Channel {
  public:
    /// `peers` knows of ranks of the communicator that have died; null: nobody looks. Errors:
    /// invalid_comm for MPI_COMM_NULL or an intercommunicator; transport.
    static Result<std::unique_ptr<MpiChannel>> make(MPI_Comm comm,
                                                    std::shared_ptr<PeerWatch> peers = {});

    int rank() const override { return rank_; }
    int rank_count() const override { return rank_count_; }
    int tag_limit() const override { return tag_limit_; }
    Capabilities capabilities(int) const override {
        return {.device_memory = DeviceReach::as_mpi, .drives_mpi = true};
    }
    /// Opens a lane whose abandon() waits up to a second, and less where a rank has died, for sends
    /// that the peer may still take (MPI cannot cancel a send); what is left then is given up, and
    /// the MPI library may go on reading its buffer. Receives that have begun are waited for, but
    /// not for ever where a rank has died.
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override;

    MPI_Comm comm() const { return comm_; }
    /// Returns the largest tag of the MPI library. Errors: transport.
    static Result<int> tag_limit_of_library();
    /// Returns how long a message may be that leaves over TCP without a question to the receiver
    /// first, with the MPI library's usual settings.
    std::size_t unasked_bytes() const { return unasked_bytes_; }

  private:
    MpiChannel(MPI_Comm comm, std::shared_ptr<PeerWatch> peers)
        : comm_(comm), peers_(std::move(peers)) {}

    MPI_Comm comm_;
    std::shared_ptr<PeerWatch> peers_;
    int rank_ = 0;
    int rank_count_ = 1;
    int tag_limit_ = 0;
    std::size_t unasked_bytes_ = 0;
};

}  // namespace gradcoll
