// peers/zccl.cpp - ZCCL: the ring allreduce with error-bounded compression, on one thread.
#include <fmt/format.h>
#include <mpi.h>

#include "peers/peer.hpp"

// ZCCL's own headers define variables and functions of their own in every file that includes them,
// and none of them is for C++; this is the one function that is called.
extern "C" int MPI_Allreduce_ZCCL_RI2_st_oa_record(const void* sendbuf, void* recvbuf,
                                                   float compressionRatio, float tolerance,
                                                   int blockSize, MPI_Aint count,
                                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

namespace gradcoll::bench {
namespace {

constexpr int zccl_block_elems = 36;  // that of ZCCL's own example
constexpr float unused_tolerance = 0;
// Pieces of shorter vectors may grow when they are compressed, and do not fit the peer's buffers.
constexpr std::size_t min_bytes = 1024;

class ZcclPeer : public Peer {
  public:
    explicit ZcclPeer(double error_bound) : error_bound_(static_cast<float>(error_bound)) {}

    void allreduce(const void* send, void* recv, std::size_t count) override {
        const int code = MPI_Allreduce_ZCCL_RI2_st_oa_record(
            send, recv, error_bound_, unused_tolerance, zccl_block_elems,
            static_cast<MPI_Aint>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (code != MPI_SUCCESS) {
            end_job(fmt::format("--peer zccl: error {}", code));
        }
    }
    std::string description() const override {
        return fmt::format("MPI_Allreduce_ZCCL_RI2_st_oa_record of ZCCL, LOSSY: error bound {:g}",
                           error_bound_);
    }

  private:
    /// The compression may make this absolute error; ZCCL calls the parameter a ratio.
    float error_bound_;
};

std::optional<std::string> zccl_refusal(const PeerWorkload& workload) {
    if (workload.element->name != "float" || workload.op != "sum" || workload.in_place) {
        return "--peer zccl: sums of float out of place only";
    }
    if (workload.min_bytes < min_bytes) {
        return fmt::format("--peer zccl: vectors of at least {} bytes, not {}", min_bytes,
                           workload.min_bytes);
    }
    return std::nullopt;
}

std::unique_ptr<Peer> make_zccl(const PeerWorkload& workload) {
    return std::make_unique<ZcclPeer>(workload.error_bound);
}

}  // namespace

PeerKind zccl_peer() {
    return {"zccl", zccl_refusal, make_zccl};
}

}  // namespace gradcoll::bench
