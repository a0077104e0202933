// peer_op.hpp - the reduction op that the peer, MPI_Allreduce, gets.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>
#include <vector>

#include "element.hpp"

namespace gradcoll::bench {

/// Returns MPI_SUM, MPI_PROD, MPI_MIN or MPI_MAX by name; MPI_OP_NULL if there is no such op.
MPI_Op find_op(std::string_view name);
std::vector<std::string> op_names();

/// A PeerOp is the op for MPI_Allreduce on `element`: MPI's own if MPI defines it on the type, else
/// a user op that computes in fp32 and rounds once for each operation, as GC_ calls do. It owns the
/// user op; destroy it before MPI_Finalize.
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
