// peers/own.cpp - GC_Allreduce with no setting of its own: what a setting given by --option costs.
#include <gradcoll.h>

#include "peer_op.hpp"
#include "peers/peer.hpp"

namespace gradcoll::bench {
namespace {

class OwnPeer : public Peer {
  public:
    explicit OwnPeer(const PeerWorkload& workload)
        : type_(workload.element->datatype()), op_(find_op(workload.op)) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    }
    ~OwnPeer() override { MPI_Comm_free(&comm_); }

    void allreduce(const void* send, void* recv, std::size_t count) override {
        if (GC_Allreduce(send, recv, static_cast<int>(count), type_, op_, comm_) != MPI_SUCCESS)
            end_job("the peer's GC_Allreduce failed");
    }
    std::string description() const override { return "GC_Allreduce without these options"; }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Datatype type_;
    MPI_Op op_;
};

std::optional<std::string> refusal(const PeerWorkload& /*workload*/) {
    return std::nullopt;
}

std::unique_ptr<Peer> make(const PeerWorkload& workload) {
    return std::make_unique<OwnPeer>(workload);
}

}  // namespace

PeerKind own_peer() {
    return {"own", refusal, make};
}

}  // namespace gradcoll::bench
