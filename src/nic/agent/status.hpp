// nic/agent/status.hpp - what an agent counts from its start, and what it says when it is asked how
// it is; docs/nic.md says what each figure means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradcoll {

struct AgentCounters {
    std::uint64_t ranks_joined = 0;
    std::uint64_t ranks_refused = 0;
    std::uint64_t links_made = 0;
    std::uint64_t links_lost = 0;
    std::uint64_t connections_refused =
        0;  ///< connections from whoever could not say or prove what it is in time
    std::uint64_t frames_sent = 0;
    std::uint64_t bytes_sent = 0;  ///< bytes of ranks; headers of frames are not counted
    std::uint64_t frames_received = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t frames_encoded = 0;
    std::uint64_t bytes_before_encoding = 0;
    std::uint64_t bytes_encoded = 0;
    std::uint64_t frames_packed = 0;  ///< of these, those that were packed once more
    std::uint64_t bytes_saved_by_packing = 0;
    std::uint64_t frames_decoded = 0;
    std::uint64_t frames_echoed = 0;  ///< encoded frames that were decoded for their own rank, too
    std::uint64_t pieces_added =
        0;  ///< pieces of the ranks here that were added into one (nic/agent/group_sums.hpp)
    std::uint64_t codec_ns = 0;     ///< time to encode and decode
    std::uint64_t bad_frames = 0;   ///< frames from other agents; each ends its link
    std::uint64_t bad_entries = 0;  ///< entries of ranks; each ends what the rank has here
    std::uint64_t sleeps = 0;

    /// Counts a frame by its bytes: in its plain form, encoded, and as it travels.
    void count_encoded(std::size_t plain, std::size_t encoded, std::size_t travels) {
        ++frames_encoded;
        bytes_before_encoding += plain;
        bytes_encoded += travels;
        if (travels < encoded) ++frames_packed;
        bytes_saved_by_packing += encoded - travels;
    }
};

struct GroupFacts {
    std::size_t ranks = 0;
    std::size_t ranks_here = 0;
    std::size_t hosts = 0;
    std::size_t links = 0;
};

struct AgentFacts {
    double uptime_s = 0;
    unsigned port = 0;
    AgentCounters counters;
    std::vector<GroupFacts> groups;
};

std::string json_of(const AgentFacts& facts);

}  // namespace gradcoll
