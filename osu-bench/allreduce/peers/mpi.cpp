// peers/mpi.cpp - MPI_Allreduce of the MPI library that this build is for.
#include <mpi.h>

#include "peer_op.hpp"
#include "peers/peer.hpp"

namespace gradcoll::bench {
namespace {

class MpiPeer : public Peer {
  public:
    explicit MpiPeer(const PeerWorkload& workload)
        : type_(workload.element->datatype()), op_(*workload.element, workload.op) {}

    void allreduce(const void* send, void* recv, std::size_t count) override {
        MPI_Allreduce(send, recv, static_cast<int>(count), type_, op_.get(), MPI_COMM_WORLD);
    }
    std::string description() const override {
        return "MPI_Allreduce of " + mpi_library() +
               (op_.is_user_op() ? " with a user op, as MPI has no such type" : "");
    }

  private:
    MPI_Datatype type_;
    PeerOp op_;
};

std::optional<std::string> refusal(const PeerWorkload& /*workload*/) {
    return std::nullopt;
}

std::unique_ptr<Peer> make(const PeerWorkload& workload) {
    return std::make_unique<MpiPeer>(workload);
}

}  // namespace

PeerKind mpi_peer() {
    return {"mpi", refusal, make};
}

}  // namespace gradcoll::bench
