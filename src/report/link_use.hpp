// report/link_use.hpp - what one planned call puts on links, for whoever shows that.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "report/snapshot.hpp"
#include "topology/vertex.hpp"

namespace gradcoll {

inline constexpr std::size_t sent_kind_count = static_cast<std::size_t>(VertexKind::group) + 1;

/// SentByKind has the bytes that a rank sends, by the kind of the vertex at which the way to the
/// receiver turns.
using SentByKind = std::array<std::uint64_t, sent_kind_count>;

/// OwnLink is a link on a rank's way to the root, of those whose bandwidth is known, and what a
/// call of that rank alone puts on it.
struct OwnLink {
    std::uint64_t key = 0;  ///< the same on all ranks below it, in trees of other communicators too
    VertexKind to_kind = VertexKind::group;  ///< kind of the vertex that it leads to
    double gbytes_per_s = 0;                 ///< each way
    std::string name;                        ///< name of the vertex below it; may be empty
    std::string to_name;                     ///< name of the vertex to which it leads; may be empty
    std::uint64_t up_bytes = 0;
    std::uint64_t down_bytes = 0;
};

struct LinkUse {
    std::shared_ptr<const TreeTraffic> of_all_ranks;  ///< null if not asked for, or not known
    SentByKind of_this_rank{};
    std::vector<OwnLink> own_links;  ///< links of this rank, the lowest first
    std::string codec;               ///< a lossy one that it uses; empty: none
};

}  // namespace gradcoll
