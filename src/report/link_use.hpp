// report/link_use.hpp - what one planned call puts on links, for whoever shows that.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "report/snapshot.hpp"
#include "topology/vertex.hpp"

namespace gradcoll {

inline constexpr std::size_t sent_kind_count = static_cast<std::size_t>(VertexKind::group) + 1;

/// Bytes that a rank sends, by the kind of the vertex at which the way to the receiver turns.
using SentByKind = std::array<std::uint64_t, sent_kind_count>;

struct LinkUse {
    std::shared_ptr<const TreeTraffic> of_all_ranks;  ///< null: not asked for, or not known
    SentByKind of_this_rank{};
    std::string codec;  ///< a lossy one that it uses; empty: none
};

}  // namespace gradcoll
