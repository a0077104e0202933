// nic/transport/mpi_detour.hpp - frames as messages of the MPI library.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "nic/transport/frame_detour.hpp"

namespace gradcoll {

/// An MpiDetour uses one tag of the communicator, which is nobody else's; the communicator must
/// outlive it. It waits a second at most for messages that are under way when it ends.
class MpiDetour final : public FrameDetour {
  public:
    /// `group` tells frames of this group from others, which an earlier channel left.
    MpiDetour(MPI_Comm comm, int tag, std::uint64_t group);
    ~MpiDetour() override;
    MpiDetour(const MpiDetour&) = delete;
    MpiDetour& operator=(const MpiDetour&) = delete;

    Status send(std::uint32_t peer, const OutgoingFrame& frame,
                std::span<const std::byte> bytes) override;
    std::uint64_t under_way(std::uint32_t peer) const override { return under_way_[peer]; }
    Result<bool> receive(DetouredFrame& out) override;

  private:
    struct Message {
        std::uint32_t peer = 0;
        std::unique_ptr<std::byte[]> bytes;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    Status finish_sends();
    Result<bool> take_head(DetouredFrame& frame) const;

    MPI_Comm comm_;
    int tag_;
    std::uint64_t group_;
    std::list<Message> leaving_;
    std::vector<std::uint64_t> under_way_;  ///< one per rank
};

}  // namespace gradcoll
