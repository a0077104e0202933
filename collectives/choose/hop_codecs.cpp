// collectives/choose/hop_codecs.cpp - reads codecs of exchanges from text, and finds the one of a
// vertex.
#include "collectives/choose/hop_codecs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/derived_trees.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t inside = 0;
constexpr std::size_t between = 1;
constexpr std::string_view kinds_allowed =
    "host (exchanges inside hosts), switch (those between hosts), between (switch, and exact "
    "inside hosts)";

bool is_one_of(int level, const std::vector<int>& levels) {
    return std::find(levels.begin(), levels.end(), level) != levels.end();
}

Status refused(std::string_view entry, std::string_view why) {
    return {Code::invalid_argument, fmt::format("\"{}\": {}; allowed kinds of links: {}",
                                                printable(entry), why, kinds_allowed)};
}

/// Returns where "=" ends a kind of link, which a parameter of a codec has, too; npos: there is no
/// kind.
std::size_t end_of_kind(std::string_view entry) {
    return entry.substr(0, entry.find('/')).find('=');
}

/// LinkCodecs reads "host=exact" and its like, one after another.
class LinkCodecs {
  public:
    Status add(std::string_view entry) {
        const std::size_t sign = end_of_kind(entry);
        if (sign == std::string_view::npos)
            return refused(entry, "a list is by level or by kind of link, not both");
        const std::string_view kind = entry.substr(0, sign);
        const CodecId codec = GRADCOLL_VALUE(codec_from_name(entry.substr(sign + 1)));
        if (kind == "host") return set(inside, codec, entry);
        if (kind == "switch") return set(between, codec, entry);
        if (kind != "between")
            return refused(entry, fmt::format("'{}' is no kind of link", printable(kind)));
        GRADCOLL_TRY(set(inside, CodecId::exact, entry));
        return set(between, codec, entry);
    }
    HopCodecs codecs() const {
        return HopCodecs::by_link(said_[inside].value_or(CodecId::exact),
                                  said_[between].value_or(CodecId::exact));
    }

  private:
    Status set(std::size_t link, CodecId codec, std::string_view entry) {
        if (said_[link]) return refused(entry, "said twice");
        said_[link] = codec;
        return {};
    }

    std::optional<CodecId> said_[2];
};

}  // namespace

bool is_inside_host(const Tree& tree, int vertex) {
    for (int at = vertex; at >= 0; at = tree.vertex(at).parent)
        if (!connects_hosts(tree.vertex(at).kind)) return true;
    return false;
}

HopCodecs::HopCodecs(std::vector<CodecId> by_level) : named_(std::move(by_level)) {}
HopCodecs::HopCodecs(std::initializer_list<CodecId> by_level) : named_(by_level) {}

HopCodecs HopCodecs::by_link(CodecId inside_hosts, CodecId between_hosts) {
    HopCodecs codecs{inside_hosts, between_hosts};
    codecs.by_link_ = true;
    return codecs;
}

CodecId HopCodecs::named_for(int level, bool is_inside) const {
    if (named_.empty() || is_one_of(level, exact_levels_)) return CodecId::exact;
    if (by_link_) return named_[is_inside ? inside : between];
    return named_[std::min(static_cast<std::size_t>(level), named_.size() - 1)];
}

CodecId HopCodecs::of(const Tree& tree, int vertex) const {
    const int level = tree.vertex(vertex).height - 1;
    const bool is_inside = is_inside_host(tree, vertex);
    const CodecId codec = named_for(level, is_inside);
    return is_inside || is_one_of(level, unpacked_levels_) ? without_packing(codec) : codec;
}

HopCodecs HopCodecs::exact_at(int level) const {
    HopCodecs codecs = *this;
    codecs.exact_levels_.push_back(level);
    return codecs;
}

HopCodecs HopCodecs::unpacked_at(int level) const {
    HopCodecs codecs = *this;
    codecs.unpacked_levels_.push_back(level);
    return codecs;
}

std::optional<HopCodecs> HopCodecs::between_leaders(const Tree& tree, const Tree& leaders_tree,
                                                    std::span<const int> leaders) const {
    if (by_link_ && named_[inside] != CodecId::exact) return {};
    std::vector<std::optional<CodecId>> by_level(static_cast<std::size_t>(leaders_tree.height()));
    for (const int vertex : leaders_tree.inner_vertices()) {
        const CodecId codec = of(tree, vertex_of_leaders(tree, leaders_tree, leaders, vertex));
        auto& level = by_level[static_cast<std::size_t>(leaders_tree.vertex(vertex).height) - 1];
        if (level && *level != codec) return {};
        level = codec;
    }
    std::vector<CodecId> codecs;
    for (const auto& codec : by_level) codecs.push_back(codec.value_or(CodecId::exact));
    const bool all_exact = std::all_of(codecs.begin(), codecs.end(),
                                       [](CodecId codec) { return codec == CodecId::exact; });
    return all_exact ? std::nullopt : std::optional(HopCodecs(std::move(codecs)));
}

HopCodecs HopCodecs::replaced(const std::function<CodecId(CodecId)>& by) const {
    HopCodecs codecs = *this;
    std::transform(named_.begin(), named_.end(), codecs.named_.begin(), by);
    return codecs;
}

std::string HopCodecs::text() const {
    if (by_link_ && named_[inside] == CodecId::exact)
        return fmt::format("between={}", name_of(named_[between]));
    if (by_link_)
        return fmt::format("host={},switch={}", name_of(named_[inside]), name_of(named_[between]));
    std::string text;
    for (const CodecId codec : named_)
        text += fmt::format("{}{}", text.empty() ? "" : ",", name_of(codec));
    return text;
}

Result<HopCodecs> hop_codecs_from(std::string_view text) {
    const std::vector<std::string_view> entries = split_at_commas(text);
    const bool by_link = std::any_of(entries.begin(), entries.end(), [](std::string_view entry) {
        return end_of_kind(entry) != std::string_view::npos;
    });
    if (by_link) {
        LinkCodecs links;
        for (const std::string_view entry : entries) GRADCOLL_TRY(links.add(entry));
        return links.codecs();
    }
    std::vector<CodecId> levels;
    for (const std::string_view entry : entries) {
        const CodecId codec = GRADCOLL_VALUE(codec_from_name(entry));
        levels.push_back(codec);
    }
    return HopCodecs(std::move(levels));
}

}  // namespace gradcoll
