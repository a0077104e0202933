// topology/json.cpp - reads a tree from JSON: the nested form, or a flat list of vertices that name
// their parents.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "topology/json_value.hpp"
#include "topology/rank_ledger.hpp"
#include "topology/text.hpp"
#include "topology/vertex.hpp"

namespace gradcoll {

namespace {

using Json = nlohmann::json;

Status wrong(std::string_view pointer, const std::string& what) {
    return {Code::invalid_argument,
            fmt::format("topology JSON: {}: {}", pointer.empty() ? "/" : pointer, what)};
}

/// FieldReader reads what both forms say about a single vertex.
class FieldReader {
  public:
    explicit FieldReader(int rank_count) : ranks_(rank_count) {}

    /// Reads the fields of a vertex. `links` are the keys that the form uses beside those of every
    /// vertex.
    Status read(const Json& json, const std::string& pointer,
                std::span<const std::string_view> links, TreeSpec& out) {
        if (!json.is_object())
            return wrong(pointer, fmt::format("found {}, expected an object", shown(json)));
        for (const auto& [key, value] : json.items()) {
            const bool is_link = std::find(links.begin(), links.end(), key) != links.end();
            if (!is_link) GRADCOLL_TRY(field(key, value, pointer + "/" + key, out));
        }
        return {};
    }
    Status complete() const {
        const Status status = ranks_.complete();
        return status.ok() ? status : wrong("", status.message());
    }

  private:
    Status field(const std::string& key, const Json& value, const std::string& pointer,
                 TreeSpec& out) {
        if (key == "kind") return kind(value, pointer, out.kind);
        if (key == "name") return name(value, pointer, out.name);
        if (key == "rank") return rank(value, pointer, out.rank);
        if (key == "bandwidth_gbytes_per_s")
            return figure(value, pointer, out.uplink.bandwidth_gbytes_per_s);
        if (key == "latency_us") return figure(value, pointer, out.uplink.latency_us);
        return wrong(
            pointer,
            "unknown key: allowed are kind, name, rank, bandwidth_gbytes_per_s, latency_us, "
            "and children (nested form) or id and parent (flat list)");
    }
    Status kind(const Json& value, const std::string& pointer, VertexKind& out) {
        if (!value.is_string())
            return wrong(pointer, fmt::format("found {}, expected a kind", shown(value)));
        const Result<VertexKind> kind = vertex_kind_from(value.get_ref<const std::string&>());
        if (!kind.ok()) return wrong(pointer, kind.status().message());
        out = *kind;
        return {};
    }
    Status name(const Json& value, const std::string& pointer, std::string& out) {
        if (!value.is_string())
            return wrong(pointer, fmt::format("found {}, expected a string", shown(value)));
        out = value.get<std::string>();
        if (out.size() > max_name_bytes)
            return wrong(pointer, fmt::format("the name has {} bytes: at most {} are allowed",
                                              out.size(), max_name_bytes));
        return {};
    }
    Status rank(const Json& value, const std::string& pointer, int& out) {
        const bool integer = value.is_number_integer();
        const auto number = integer ? value.get<std::int64_t>() : -1;
        if (!integer || number < 0 || number >= max_tree_ranks)
            return wrong(pointer, fmt::format("found {}, expected a rank: an integer from 0 to {}",
                                              shown(value), max_tree_ranks - 1));
        out = static_cast<int>(number);
        const Status status = ranks_.add(out);
        return status.ok() ? status : wrong(pointer, status.message());
    }
    static Status figure(const Json& value, const std::string& pointer, double& out) {
        if (!value.is_number() || !is_link_figure(value.get<double>()))
            return wrong(pointer,
                         fmt::format("found {}, expected a finite number that is not negative",
                                     shown(value)));
        out = value.get<double>();
        return {};
    }

    RankLedger ranks_;
};

Status too_deep(const std::string& pointer) {
    return wrong(pointer.substr(0, 80),
                 fmt::format("deeper than the {} levels that are allowed", max_tree_depth));
}

class NestedReader {
  public:
    explicit NestedReader(FieldReader& fields) : fields_(fields) {}

    Status read(const Json& json, int depth, TreeSpec& out) {
        static constexpr std::array<std::string_view, 1> links{"children"};
        if (depth > max_tree_depth) return too_deep(pointer_);
        GRADCOLL_TRY(fields_.read(json, pointer_, links, out));
        const auto children = json.find("children");
        if (children == json.end())
            return out.rank >= 0 ? Status() : wrong(pointer_, "has neither rank nor children");
        if (!children->is_array())
            return wrong(pointer_ + "/children",
                         fmt::format("found {}, expected an array", shown(*children)));
        if (children->empty())
            return wrong(pointer_ + "/children", "is empty: an inner vertex needs ranks below it");
        const std::size_t own_size = pointer_.size();
        out.children.resize(children->size());
        for (std::size_t c = 0; c < children->size(); ++c) {
            pointer_ += fmt::format("/children/{}", c);
            GRADCOLL_TRY(read((*children)[c], depth + 1, out.children[c]));
            pointer_.resize(own_size);
        }
        return {};
    }

  private:
    FieldReader& fields_;
    std::string pointer_;
};

/// FlatReader reads {"vertices": [{"id", "parent", ...}]} in any order; the order of siblings is
/// the order in the list.
class FlatReader {
  public:
    explicit FlatReader(FieldReader& fields) : fields_(fields) {}

    Status read(const Json& list, TreeSpec& out) {
        if (!list.is_array())
            return wrong("/vertices", fmt::format("found {}, expected an array", shown(list)));
        if (list.empty()) return wrong("/vertices", "is empty: a tree needs at least one rank");
        entries_.resize(list.size());
        for (std::size_t v = 0; v < list.size(); ++v) GRADCOLL_TRY(entry(list[v], v));
        for (std::size_t v = 0; v < list.size(); ++v) GRADCOLL_TRY(link(list[v], v));
        GRADCOLL_TRY(check_no_cycle());
        return build(root_, 0, out);
    }

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    struct Entry {
        std::string id;
        std::size_t parent = none;
        std::vector<std::size_t> children;
        TreeSpec spec;
    };

    static std::string pointer(std::size_t v) { return fmt::format("/vertices/{}", v); }

    Status entry(const Json& json, std::size_t v) {
        static constexpr std::array<std::string_view, 2> links{"id", "parent"};
        GRADCOLL_TRY(fields_.read(json, pointer(v), links, entries_[v].spec));
        const auto id = json.find("id");
        if (id == json.end()) return wrong(pointer(v), "has no id");
        GRADCOLL_TRY(read_id(*id, pointer(v) + "/id", entries_[v].id));
        const auto [first, fresh] = by_id_.emplace(entries_[v].id, v);
        if (!fresh)
            return wrong(pointer(v) + "/id",
                         fmt::format("not a tree: the vertex {} is already at {}: each vertex "
                                     "stands once and has one parent",
                                     shown(*id), pointer(first->second)));
        return {};
    }

    /// Reads an id as its JSON text, in which 1 and "1" differ.
    static Status read_id(const Json& json, const std::string& pointer, std::string& out) {
        if (!json.is_string() && !json.is_number_integer())
            return wrong(pointer,
                         fmt::format("found {}, expected a string or an integer", shown(json)));
        out = json.dump();
        return {};
    }

    Status link(const Json& json, std::size_t v) {
        const auto parent = json.find("parent");
        if (parent == json.end() || parent->is_null()) {
            if (root_ != none)
                return wrong(pointer(v),
                             fmt::format("a second root (a vertex without parent): the first is {}",
                                         pointer(root_)));
            root_ = v;
            return {};
        }
        const std::string at = pointer(v) + "/parent";
        if (parent->is_array()) return wrong(at, "not a tree: a vertex has one parent");
        std::string id;
        GRADCOLL_TRY(read_id(*parent, at, id));
        const auto found = by_id_.find(id);
        if (found == by_id_.end())
            return wrong(at, fmt::format("unknown vertex {}", shown(*parent)));
        entries_[v].parent = found->second;
        entries_[found->second].children.push_back(v);
        return {};
    }

    /// Checks that there is no cycle, by walking up from every vertex, never twice over the same
    /// edge.
    Status check_no_cycle() const {
        std::vector<std::size_t> seen_from(entries_.size(), none);
        for (std::size_t start = 0; start < entries_.size(); ++start) {
            std::size_t v = start;
            while (v != none && seen_from[v] == none) {
                seen_from[v] = start;
                v = entries_[v].parent;
            }
            if (v != none && seen_from[v] == start) return cycle_through(v);
        }
        return {};
    }
    Status cycle_through(std::size_t v) const {
        std::string way = entries_[v].id;
        std::size_t up = entries_[v].parent;
        for (int shown_vertices = 0; up != v && shown_vertices < 8; ++shown_vertices) {
            way += " -> " + entries_[up].id;
            up = entries_[up].parent;
        }
        way += up == v ? " -> " + entries_[v].id : " -> ...";
        return wrong(pointer(v) + "/parent", "the parents run in a cycle: " + way);
    }

    Status build(std::size_t v, int depth, TreeSpec& out) {
        Entry& entry = entries_[v];
        if (depth > max_tree_depth) return too_deep(pointer(v));
        if (entry.spec.rank < 0 && entry.children.empty())
            return wrong(pointer(v), "has no rank, and no vertex names it as its parent");
        out = std::move(entry.spec);
        out.children.resize(entry.children.size());
        for (std::size_t c = 0; c < entry.children.size(); ++c)
            GRADCOLL_TRY(build(entry.children[c], depth + 1, out.children[c]));
        return {};
    }

    FieldReader& fields_;
    std::vector<Entry> entries_;
    std::unordered_map<std::string, std::size_t> by_id_;
    std::size_t root_ = none;
};

Status read_document(const Json& json, int rank_count, TreeSpec& out) {
    FieldReader fields(rank_count);
    const bool flat = json.is_object() && json.contains("vertices");
    if (flat && json.size() > 1)
        return wrong("", "vertices stands alone: no other key is allowed beside it");
    GRADCOLL_TRY(flat ? FlatReader(fields).read(json["vertices"], out)
                      : NestedReader(fields).read(json, 0, out));
    return fields.complete();
}

/// Returns the status with a message fit for people, since keys and values are in it as they were
/// written: whatever is no plain letter becomes a question mark, and a message that is too long
/// loses its middle.
Status for_people(const Status& status) {
    constexpr std::size_t longest = 1000, kept = 480;
    std::string message = with_plain_characters(status.message());
    if (message.size() > longest)
        message = message.substr(0, kept) + " ... " + message.substr(message.size() - kept);
    return {status.code(), std::move(message)};
}

/// A tree takes two levels of JSON for each of its own, and some more for what is refused by name.
constexpr int deepest_json = 2 * max_tree_depth + 16;

Result<Tree> read_tree(std::string_view text, int rank_count) {
    if (!check_json_depth(text, deepest_json).ok()) return too_deep("");
    Json json;
    try {
        json = Json::parse(text);
    } catch (const Json::exception& error) {
        return Status(Code::invalid_argument, "topology JSON: " + reason_of(error));
    }
    TreeSpec spec;
    GRADCOLL_TRY(read_document(json, rank_count, spec));
    return Tree::make(spec);
}

}  // namespace

Result<Tree> tree_from_json(std::string_view text, int rank_count) {
    Result<Tree> tree = read_tree(text, rank_count);
    return tree.ok() ? std::move(tree) : for_people(tree.status());
}

}  // namespace gradcoll
