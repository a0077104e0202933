// peers/staged.cpp - copies before and after another peer's call, which count as part of the call.
#include "peers/staged.hpp"

#include <fmt/format.h>
#include <mpi.h>

namespace gradcoll::bench {
namespace {

class StagedPeer : public Peer {
  public:
    StagedPeer(std::unique_ptr<Peer> peer, Memory& memory, const Element& element,
               std::size_t max_bytes)
        : peer_(std::move(peer)),
          memory_(memory),
          element_(element),
          sent_(memory.host_side(), max_bytes),
          received_(memory.host_side(), max_bytes) {}

    void allreduce(const void* send, void* recv, std::size_t count) override {
        const std::size_t size_bytes = count * element_.bytes;
        const bool in_place = send == MPI_IN_PLACE;
        Buffer& staged = in_place ? received_ : sent_;
        memory_.copy(staged.data(), in_place ? recv : send, size_bytes);
        peer_->allreduce(in_place ? MPI_IN_PLACE : staged.data(), received_.data(), count);
        memory_.copy(recv, received_.data(), size_bytes);
    }
    std::string description() const override {
        return fmt::format("{}, on a copy in {} and back", peer_->description(),
                           memory_.host_side().description());
    }

  private:
    std::unique_ptr<Peer> peer_;
    Memory& memory_;
    const Element& element_;
    Buffer sent_;
    Buffer received_;
};

}  // namespace

std::unique_ptr<Peer> within_reach(std::unique_ptr<Peer> peer, Memory& memory,
                                   const Element& element, std::size_t max_bytes) {
    if (memory.is_host()) {
        return peer;
    }
    return std::make_unique<StagedPeer>(std::move(peer), memory, element, max_bytes);
}

}  // namespace gradcoll::bench
