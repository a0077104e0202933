// peer_op.hpp - the reduction as MPI_Allreduce, the peer, gets it.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>
#include <vector>

#include "element.hpp"

namespace gradcoll::bench {

/// MPI_SUM, MPI_PROD, MPI_MIN or MPI_MAX by name; MPI_OP_NULL if there is no such op.
MPI_Op find_op(std::string_view name);
std::vector<std::string> op_names();

/// The op for MPI_Allreduce on `element`: MPI's own where MPI defines it on the type, else a user
/// op that computes in fp32 and rounds once an operation, as GC_ calls do. Owns the user op;
/// destroy it before MPI_Finalize.
class PeerOp {
  public:
    PeerOp(const Element& element, std::string_view op_name);
    ~PeerOp();
    PeerOp(const PeerOp&) = delete;
    PeerOp& operator=(const PeerOp&) = delete;

    MPI_Op get() const { return op_; }
    bool is_user_op() const { return owned_; }

  private:
    MPI_Op op_;
    bool owned_ = false;
};

}  // namespace gradcoll::bench
