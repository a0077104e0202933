// transport/shm/traffic.hpp - all messages of one rank through the shared memory, whatever their
// lanes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "transport/shm/receive_side.hpp"
#include "transport/shm/send_side.hpp"
#include "transport/spin_lock.hpp"

namespace gradcoll {

/// Any lane's poll moves the messages of all. Thread safe.
class ShmTraffic {
  public:
    ShmTraffic(const ShmLayout& layout, int rank, const std::vector<int>& rank_names,
               PeerMemory memory);

    void lane_opened(std::size_t capacity);
    void lane_closed(std::size_t capacity);
    /// Errors: transport, after a peer wrote what cannot be; then nothing works any more.
    Status start_send(const SendRequest& request);
    Status start_recv(const RecvRequest& request);
    /// Moves what can be moved; then hands out what has ended of the lane whose messages these are.
    Result<std::size_t> poll(FinishedMessages& lane, std::span<Completion> out);
    void abandon(FinishedMessages& lane);

  private:
    void progress(int peer);
    void take_records(int peer);

    SpinLock lock_;  ///< guards all below, and what lanes have finished
    ShmLayout layout_;
    PeerMemory memory_;
    std::vector<PairWire> wires_;
    SendSide sends_;
    ReceiveSide receives_;
    std::size_t capacity_ = 0;  ///< of all lanes
    Status fault_;
};

}  // namespace gradcoll
