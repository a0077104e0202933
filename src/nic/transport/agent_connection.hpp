// nic/transport/agent_connection.hpp - a rank's end of its connection to the NIC agent of its host.
#pragma once

#include <string>

#include "nic/control.hpp"
#include "nic/shared_region.hpp"

namespace gradcoll {

/// From hello to the memory that both share. Each step waits for the agent's answer, for some
/// seconds at most. Errors of all: io where there is no agent; unsupported with its words where it
/// refuses; transport, corrupt.
class AgentConnection {
  public:
    static Result<AgentConnection> open(const std::string& directory, const NicHello& hello);

    const NicEndpoint& endpoint() const { return welcome_.endpoint; }
    /// Whether this process and the agent know the same codecs.
    bool has_our_codecs() const;
    /// All ranks of the group say the same. From now on there is memory.
    Status join(const NicRoster& roster);
    /// By one rank of each host, when all have joined.
    Status connect_hosts();

    const NicLayout& layout() const { return region_.layout(); }
    const SharedRegion& region() const { return region_; }
    /// The agent has not ended. A call of the system.
    bool is_alive() const;
    /// What it counts as long as it works.
    std::uint64_t beats() const { return layout().agent().beats.load(std::memory_order_relaxed); }
    /// If it sleeps. A store to the memory before is seen by an agent that does not.
    void wake() const;

  private:
    template <class Packet>
    Result<NicReceived> ask(std::span<const std::byte> question) const;

    Descriptor socket_;
    NicWelcome welcome_;
    SharedRegion region_;
    Descriptor event_;
};

}  // namespace gradcoll
