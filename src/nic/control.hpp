// nic/control.hpp - what is said over the socket between a process and the NIC agent of its host:
// whole packets, with files beside them.
//
//   rank:  NicHello, NicRoster (with a file)  agent:  NicWelcome, NicReady (with two files)
//   rank:  NicConnect (one rank a host)       agent:  NicConnected
//   anybody of the same user: NicHello of kind status     agent:  NicText, as many as it takes
//
// In place of any answer there may be a NicRefusal, and then the connection ends. It stays open as
// long as the rank uses the agent: its end tells each of the other's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "nic/layout.hpp"

namespace gradcoll {

/// All that agents and ranks say, to each other and among agents, has this version.
inline constexpr std::uint32_t nic_version = 8;
inline constexpr std::uint64_t nic_magic = 0x6463'696e'2d63'67;

/// NicGroupKey says which communicator of which job; its ranks and their agents know it.
struct NicGroupKey {
    std::array<std::uint8_t, 16> id{};
    std::array<std::uint8_t, 32> secret{};  ///< agents of one group prove to each other that they
                                            ///< know it
};

enum class NicPacket : std::uint32_t {
    hello = 1,
    welcome,
    roster,
    ready,
    connect,
    connected,
    text,
    refusal
};

enum class NicPurpose : std::uint32_t { join = 1, status };

struct NicHello {
    NicPacket packet = NicPacket::hello;
    std::uint32_t version = nic_version;
    std::uint64_t magic = nic_magic;
    NicPurpose purpose = NicPurpose::join;
    std::uint32_t rank = 0;
    std::uint32_t rank_count = 0;
    std::uint32_t host = 0;  ///< number among the hosts of the group, from 0
    std::uint32_t host_count = 0;
    std::uint32_t unused = 0;
    NicGroupKey key;
};

/// NicEndpoint says where an agent can be reached: one port at any of some IPv4 addresses, in
/// network order.
struct NicEndpoint {
    static constexpr std::size_t most_addresses = 7;
    std::uint16_t port = 0;
    std::uint16_t address_count = 0;
    std::array<std::uint32_t, most_addresses> addresses{};
};
static_assert(sizeof(NicEndpoint) == 32);

struct NicWelcome {
    NicPacket packet = NicPacket::welcome;
    std::uint32_t version = nic_version;
    std::int64_t process = 0;
    std::uint64_t codecs = 0;  ///< which ones it has (digest_of_codecs())
    NicEndpoint endpoint;
};

/// NicRosterHead stands before `host_of_rank` (a number for each rank) and `endpoints` (one for
/// each host). With it may come a file: the rank's memory (nic/rank_memory.hpp).
struct NicRosterHead {
    NicPacket packet = NicPacket::roster;
    std::uint32_t rank_count = 0;
    std::uint32_t host_count = 0;
    std::uint32_t unused = 0;
};
struct NicRoster {
    std::vector<std::uint32_t> host_of_rank;
    std::vector<NicEndpoint> endpoints;

    std::vector<std::byte> packed() const;
    /// Errors: corrupt if it is not one packet of that form, or names a host that is not there.
    static Result<NicRoster> unpacked(std::span<const std::byte> packet);
};

/// NicReady comes with two files: the shared memory, and the event that wakes the agent.
struct NicReady {
    NicPacket packet = NicPacket::ready;
    NicShape shape;
};
struct NicConnect {
    NicPacket packet = NicPacket::connect;
};
struct NicConnected {
    NicPacket packet = NicPacket::connected;
};

/// NicTextHead stands before the text.
struct NicTextHead {
    NicPacket packet = NicPacket::text;
    std::uint32_t is_last = 0;
};

/// NicRefusal has a text that is printable, or cut where it is not.
struct NicRefusal {
    NicPacket packet = NicPacket::refusal;
    std::uint32_t version = nic_version;
    std::array<char, 240> text{};

    static NicRefusal of(std::string_view text);
    std::string message() const;
};

inline constexpr std::size_t largest_nic_packet = std::size_t{192} << 10;
inline constexpr std::size_t most_nic_files = 2;

/// NicReceived is a packet as it came.
struct NicReceived {
    std::vector<std::byte> bytes;  ///< empty: the other side has closed
    std::vector<Descriptor> files;

    /// Returns the packet if it is a `Packet`, else null.
    template <class Packet>
    const Packet* as() const {
        const auto* packet = reinterpret_cast<const Packet*>(bytes.data());
        return bytes.size() == sizeof(Packet) && packet->packet == Packet{}.packet ? packet
                                                                                   : nullptr;
    }
};

/// Sends a packet; `files` stay the caller's. Errors: transport with the system's reason.
Status send_packet(int socket, std::span<const std::byte> bytes,
                   std::span<const Descriptor* const> files = {});
template <class Packet>
requires requires(const Packet& packet) {
    packet.packet;
}
Status send_packet(int socket, const Packet& packet,
                   std::span<const Descriptor* const> files = {}) {
    return send_packet(socket, std::as_bytes(std::span(&packet, 1)), files);
}
/// Receives a packet, for which it waits as long as the socket says. Errors: transport, likewise;
/// corrupt for a packet that is longer than all.
Result<NicReceived> receive_packet(int socket);

/// Returns JSON. Errors: io if there is no agent, or it is another user's; transport, corrupt.
Result<std::string> status_of_nic_agent(const std::string& directory);

}  // namespace gradcoll
