// collectives/choose/hop_codecs.hpp - which codec each exchange is to have: one a level of the
// tree, or one for all inside hosts and one for all between them.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "compress/codec_id.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Whether the branches of a vertex are parts of one host: it is a host or something inside one.
/// Switches and groups below a host are inside it, too.
bool is_inside_host(const Tree& tree, int vertex);

/// A level is a height: on a lopsided tree one level has vertices inside hosts and between them. So
/// what is meant for slow links alone is said by kind of link. A value.
class HopCodecs {
  public:
    /// Exact everywhere.
    HopCodecs() = default;
    /// Level by level, nearest the ranks first; the last holds for all above. None: exact.
    HopCodecs(std::vector<CodecId> by_level);            // NOLINT: implicit by design
    HopCodecs(std::initializer_list<CodecId> by_level);  // NOLINT: implicit by design
    static HopCodecs by_link(CodecId inside_hosts, CodecId between_hosts);

    /// Nothing was said.
    bool empty() const { return named_.empty(); }
    /// Of the exchange of a vertex. Inside hosts nothing is packed.
    CodecId of(const Tree& tree, int vertex) const;
    /// The same but exact at all vertices of a level.
    HopCodecs exact_at(int level) const;
    /// The same but with no message packed there.
    HopCodecs unpacked_at(int level) const;
    /// The same exchanges on the tree_of_leaders(), where a vertex has another height and nothing
    /// is inside hosts. None if no list by level says it, if inside hosts something else than exact
    /// was asked for by name, or if nothing is left that is not exact. `leaders`: leaders_in().
    std::optional<HopCodecs> between_leaders(const Tree& tree, const Tree& leaders_tree,
                                             std::span<const int> leaders) const;
    /// Each codec that was named replaced.
    HopCodecs replaced(const std::function<CodecId(CodecId)>& by) const;
    /// Every codec that was named, also those that a tree has no place for.
    const std::vector<CodecId>& named() const { return named_; }
    /// As hop_codecs_from() reads it, but for what exact_at() and unpacked_at() changed.
    std::string text() const;

    friend bool operator==(const HopCodecs&, const HopCodecs&) = default;

  private:
    CodecId named_for(int level, bool is_inside) const;

    std::vector<CodecId> named_;  ///< by level; by link: inside hosts, between hosts
    bool by_link_ = false;
    std::vector<int> exact_levels_, unpacked_levels_;
};

/// "2:4" or "exact,2:4": codecs by level. "host=exact,switch=2:4": by kind of link, in any order,
/// exact for the one that is not named; "between=2:4": the same. Errors: invalid_argument naming
/// the entry and what is allowed.
Result<HopCodecs> hop_codecs_from(std::string_view text);

}  // namespace gradcoll
