// nic/transport/nic_traffic.hpp - all messages of one rank by the agents, whatever their lanes.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "nic/transport/nic_receives.hpp"
#include "nic/transport/nic_sends.hpp"
#include "nic/transport/nic_sums.hpp"
#include "transport/spin_lock.hpp"

namespace gradcoll {

/// NicTraffic has the messages of all lanes, which any lane's poll moves. Thread safe.
class NicTraffic {
  public:
    /// Requests may have codecs where all agents encode (NicChannel::Place).
    static constexpr bool encodes = true;
    NicTraffic(AgentConnection agent, std::uint32_t rank, std::vector<std::uint32_t> peers,
               std::unique_ptr<FrameDetour> detour);

    void lane_opened(std::size_t capacity);
    void lane_closed(std::size_t capacity);
    /// Errors: transport, after a peer or the agent did what cannot be, or the detour failed; then
    /// nothing works any more.
    Status start_send(const SendRequest& request);
    Status start_recv(const RecvRequest& request);
    /// Moves what can be moved; then hands out what has ended among the messages of the lane.
    Result<std::size_t> poll(FinishedMessages& lane, std::span<Completion> out);
    /// Sleeps after a poll of the lane that had nothing (Lane::rest).
    bool rest(const FinishedMessages& lane, std::chrono::microseconds longest);
    void abandon(FinishedMessages& lane);
    /// Hands the vector to the agent, piece by piece, and takes its sum, until it has all or gets
    /// no more; sums() says how far it came. One at a time.
    void sum(const SumRequest& request);
    const NicSums& sums() const { return sums_; }
    /// Keeps the first pieces of that sum, which alone are good, and makes the rest of a vector in
    /// place what it was. Returns how many elements the good ones have.
    std::size_t give_back_behind(std::uint64_t pieces);
    SentOfSums take_sent_of_sums();

  private:
    bool progress(std::uint32_t peer);
    enum class Turn : std::uint8_t { over, busy, idle };
    Turn sum_turn(unsigned idle, std::uint32_t& seen);
    bool take_frames(std::uint32_t peer);
    Status fault() const { return fault_.ok() ? wires_.fault() : fault_; }

    SpinLock lock_;  ///< guards all below, and what lanes have finished
    std::vector<std::uint32_t> peers_;
    std::unique_ptr<FrameDetour> detour_;
    FramePipe frames_;
    NicWires wires_;
    NicSends sends_;
    NicReceives receives_;
    NicSums sums_;
    std::size_t capacity_ = 0;  ///< capacity of all lanes
    unsigned idle_looks_ = 0;   ///< how many the last poll counts for; 0: something happened in it
    std::uint32_t seen_ = 0;    ///< news before the last poll
    Status fault_;
};

}  // namespace gradcoll
