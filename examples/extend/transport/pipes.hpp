// pipes.hpp - a named pipe for each direction between two ranks of a host.
#pragma once

#include <utility>
#include <vector>

#include "base/mpi/host_comm.hpp"
#include "base/status.hpp"

namespace gradcoll::fifo {

/// Closes itself. Neither reads nor writes of it block.
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

/// By rank of the host, oneself included.
struct Pipes {
    std::vector<Pipe> from, to;
};

/// Collective over the host. Nothing is left in the file system. Errors: io on every rank of the
/// host that lacks a pipe; transport.
Result<Pipes> make_pipes(const HostComm& host);

}  // namespace gradcoll::fifo
