// transport/shm/traffic.hpp - all messages of one rank through the shared memory, whatever their
// lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/shm/receive_side.hpp"
#include "transport/shm/send_side.hpp"
#include "transport/spin_lock.hpp"

namespace gradcoll {

/// ShmPlace is where the ranks meet: zeros at first, one part of `bytes_a_rank` for each rank, in
/// rank order. How the memory came to be shared does not matter. It is not owned.
struct ShmPlace {
    std::byte* memory = nullptr;  ///< aligned to a page
    std::size_t bytes_a_rank = 0;
    int rank = 0;
    int rank_count = 1;
};

/// ShmTraffic has the messages of all lanes, which any lane's poll moves; messages meet receives of
/// their own group alone. Thread safe.
class ShmTraffic {
  public:
    /// `rank_names` is what messages call the ranks (empty: by their numbers here). Errors:
    /// invalid_argument for a place that is too small.
    static Result<std::shared_ptr<ShmTraffic>> make(const ShmPlace& place,
                                                    std::vector<int> rank_names = {},
                                                    PeerMemory memory = {});

    int rank() const { return rank_; }
    int rank_count() const { return layout_.rank_count(); }
    /// Returns whether a peer wrote what cannot be.
    bool has_failed();
    /// Opens a group. Groups have numbers that all ranks know them by, and are never opened again.
    /// Messages that come for a group which is not open are dropped, so every rank opens it before
    /// any sends.
    void open_group(std::uint16_t group);
    /// Closes a group, whose lanes must be closed.
    void close_group(std::uint16_t group);
    void lane_opened(std::size_t capacity);
    void lane_closed(std::size_t capacity);
    /// Errors: transport, after a peer wrote what cannot be; then nothing works any more.
    Status start_send(const SendRequest& request, std::uint16_t group);
    Status start_recv(const RecvRequest& request, std::uint16_t group);
    /// Moves what can be moved; then hands out what has ended among the messages of the lane.
    Result<std::size_t> poll(FinishedMessages& lane, std::span<Completion> out);
    void abandon(FinishedMessages& lane);

  private:
    ShmTraffic(const ShmLayout& layout, int rank, const std::vector<int>& rank_names,
               PeerMemory memory);
    void progress(int peer);
    void take_records(int peer);

    const ShmLayout layout_;
    const int rank_;
    SpinLock lock_;  ///< guards all below, and what lanes have finished
    PeerMemory memory_;
    std::vector<PairWire> wires_;
    SendSide sends_;
    ReceiveSide receives_;
    std::size_t capacity_ = 0;  ///< capacity of all lanes
    Status fault_;
};

}  // namespace gradcoll
