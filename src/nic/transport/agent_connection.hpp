// nic/transport/agent_connection.hpp - a rank's end of its connection to the NIC agent of its host.
#pragma once

#include <string>

#include "nic/control.hpp"
#include "nic/shared_region.hpp"

namespace gradcoll {

/// An AgentConnection takes a rank from hello to the memory that it shares with the agent. Each
/// step waits for the agent's answer, for some seconds at most. Errors of all steps: io where there
/// is no agent; unsupported with its words where it refuses; transport, corrupt.
class AgentConnection {
  public:
    static Result<AgentConnection> open(const std::string& directory, const NicHello& hello);

    const NicEndpoint& endpoint() const { return welcome_.endpoint; }
    /// Returns whether this process and the agent know the same codecs.
    bool has_our_codecs() const;
    /// Joins the group, of which all ranks say the same. From now on there is memory.
    Status join(const NicRoster& roster);
    /// Connects the hosts. One rank of each host calls it, when all have joined.
    Status connect_hosts();

    const NicLayout& layout() const { return region_.layout(); }
    const SharedRegion& region() const { return region_; }
    /// Returns whether the agent can read the memory of this process.
    bool reads_memory() const { return reads_memory_; }
    /// Returns whether the agent has not ended. It is a call of the system.
    bool is_alive() const;
    /// Returns a number that the agent counts on as long as it works.
    std::uint64_t beats() const { return layout().agent().beats.load(std::memory_order_relaxed); }
    /// Wakes the agent if it sleeps. One that does not sleep sees what was stored to the memory
    /// before.
    void wake() const;

  private:
    template <class Packet>
    Result<NicReceived> ask(std::span<const std::byte> question,
                            std::span<const Descriptor* const> files = {}) const;

    Descriptor socket_;
    NicWelcome welcome_;
    SharedRegion region_;
    Descriptor event_;
    bool reads_memory_ = false;
};

}  // namespace gradcoll
