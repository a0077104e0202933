// collectives/choose/hop_codecs.hpp - says which codec each exchange gets: one for each level of
// the tree, or one for all inside hosts and one for all between them.
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

/// Returns whether the branches of a vertex are parts of one host: it is a host or something inside
/// one. Switches and groups below a host are inside it, too.
bool is_inside_host(const Tree& tree, int vertex);

/// HopCodecs names codecs by level or by kind of link. A level is a height: on a lopsided tree one
/// level has vertices inside hosts and between them, so codecs for slow links alone are named by
/// kind of link. A value.
class HopCodecs {
  public:
    /// Makes all exchanges exact.
    HopCodecs() = default;
    /// Takes codecs level by level, nearest the ranks first; the last holds for all above. An empty
    /// list means exact.
    HopCodecs(std::vector<CodecId> by_level);            // NOLINT: implicit by design
    HopCodecs(std::initializer_list<CodecId> by_level);  // NOLINT: implicit by design
    static HopCodecs by_link(CodecId inside_hosts, CodecId between_hosts);

    /// Returns whether nothing was named.
    bool empty() const { return named_.empty(); }
    /// Returns the codec for the exchange of a vertex. Inside hosts nothing is packed.
    CodecId of(const Tree& tree, int vertex) const;
    /// Returns these codecs, but exact at all vertices of a level.
    HopCodecs exact_at(int level) const;
    /// Returns these codecs, but with no message packed at a level.
    HopCodecs unpacked_at(int level) const;
    /// Returns the codecs for the same exchanges on the tree_of_leaders(), where vertices have
    /// other heights and none is inside a host. Returns nothing if no list by level can express it,
    /// if another codec than exact was named for the inside of hosts, or if only exact remains.
    /// `leaders`: leaders_in().
    std::optional<HopCodecs> between_leaders(const Tree& tree, const Tree& leaders_tree,
                                             std::span<const int> leaders) const;
    /// Returns these codecs with each one that was named replaced.
    HopCodecs replaced(const std::function<CodecId(CodecId)>& by) const;
    /// Returns every codec that was named, also those that a tree has no place for.
    const std::vector<CodecId>& named() const { return named_; }
    /// Returns the text that hop_codecs_from() reads, without the changes by exact_at() and
    /// unpacked_at().
    std::string text() const;

    friend bool operator==(const HopCodecs&, const HopCodecs&) = default;

  private:
    CodecId named_for(int level, bool is_inside) const;

    std::vector<CodecId> named_;  ///< by level; by link: inside hosts, between hosts
    bool by_link_ = false;
    std::vector<int> exact_levels_, unpacked_levels_;
};

/// Reads codecs by level: "2:4" or "exact,2:4"; or by kind of link: "host=exact,switch=2:4", in any
/// order, with exact for the kind that is not named; "between=2:4" works, too. Errors:
/// invalid_argument naming the entry and what is allowed.
Result<HopCodecs> hop_codecs_from(std::string_view text);

}  // namespace gradcoll
