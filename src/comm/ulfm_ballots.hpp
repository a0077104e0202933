// comm/ulfm_ballots.hpp - votes of ranks whose MPI library brings them to an agreement (ULFM).
#pragma once

#include <memory>

#include "base/mpi/ulfm.hpp"
#include "comm/ballots.hpp"
#include "comm/comm_identity.hpp"
#include "transport/peer_watch.hpp"

namespace gradcoll {

/// UlfmBallots hand each vote to MPIX_Comm_iagree, which gives the same flag to all that live. The
/// thread that calls may call MPI, and no other does meanwhile.
class UlfmBallots final : public Ballots {
  public:
    /// `comm` is used for nothing else. An agreement that a rank does not wait for goes on while
    /// it makes other calls of MPI, so a rank that votes against waits for `patience_ns` at most.
    UlfmBallots(PrivateComm comm, std::uint64_t patience_ns);
    /// Leaves the communicator to MPI_Finalize if an agreement is under way.
    ~UlfmBallots() override;
    UlfmBallots(const UlfmBallots&) = delete;
    UlfmBallots& operator=(const UlfmBallots&) = delete;

    void cast(std::uint64_t question, unsigned vote) override;
    std::optional<unsigned> answer() override;
    void rest() override;

  private:
    /// Asked is what MPI writes to; it outlives this object if MPI still may.
    struct Asked {
        PrivateComm comm;
        int flag = 0;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    std::unique_ptr<Asked> asked_;
    std::uint64_t patience_ns_;
    SlowWait slow_;  ///< the wait for the present answer
};

}  // namespace gradcoll
