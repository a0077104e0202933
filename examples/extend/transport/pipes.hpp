// pipes.hpp - a named pipe for each direction between two ranks of a host.
#pragma once

#include <utility>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"

namespace gradcoll::fifo {

/// A Pipe closes itself. Its reads and writes never block.
class Pipe {
  public:
    explicit Pipe(int descriptor) : descriptor_(descriptor) {}
    Pipe(Pipe&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Pipe& operator=(Pipe&&) = delete;
    ~Pipe();
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
};

/// Pipes are indexed by rank of the host, including this one.
struct Pipes {
    std::vector<Pipe> from, to;
};

/// Makes the pipes; leaves nothing in the file system. Collective over the host. Errors: io on
/// every rank of the host that lacks a pipe; transport.
Result<Pipes> make_pipes(const HostComm& host);

}  // namespace gradcoll::fifo
