// comm/message_ballots.hpp - votes of ranks that exchange messages, whichever threads of theirs are
// inside MPI.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "comm/ballots.hpp"
#include "comm/comm_identity.hpp"
#include "comm/vote_flood.hpp"

namespace gradcoll {

/// MessageBallots tell votes from each rank to each, by messages of some tens of bytes. They need
/// MPI_THREAD_MULTIPLE, and an MPI library by which ranks that live still talk when one has died
/// (ULFM).
class MessageBallots final : public Ballots {
  public:
    /// `comm` is used for nothing else; `peers` knows of all deaths.
    MessageBallots(PrivateComm comm, std::shared_ptr<PeerWatch> peers);
    /// Leaves the communicator to MPI_Finalize if a rank has died.
    ~MessageBallots() override;
    MessageBallots(const MessageBallots&) = delete;
    MessageBallots& operator=(const MessageBallots&) = delete;

    void cast(std::uint64_t question, unsigned vote) override;
    std::optional<unsigned> answer() override;
    void rest() override;

  private:
    struct Receive {
        VoteFlood::Message message;
        MPI_Request request = MPI_REQUEST_NULL;
        bool is_over = false;  ///< whether nothing is heard from that rank any more
    };
    struct Sent {
        VoteFlood::Message message;
        std::vector<MPI_Request> requests;
    };
    /// Traffic is what MPI reads and writes; it outlives this object if MPI still may.
    struct Traffic {
        PrivateComm comm;
        std::vector<Receive> receives{};  ///< one for each rank
        std::list<Sent> sent{};
    };

    void expect(int rank);
    void hear(int rank);
    void lose(int rank);
    void send();

    std::unique_ptr<Traffic> traffic_;
    std::shared_ptr<PeerWatch> peers_;
    int rank_;
    int rank_count_;
    VoteFlood flood_;
    SlowWait slow_;  ///< the wait for the present answer
};

}  // namespace gradcoll
