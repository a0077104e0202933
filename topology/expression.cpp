// topology/expression.cpp - reads (with positions in its errors) and writes the nested expression.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "base/text.hpp"
#include "topology/rank_ledger.hpp"
#include "topology/text.hpp"

namespace gradcoll {

namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_paren(char c) {
    return c == '(' || c == ')';
}

/// ExpressionReader is a recursive-descent parser with one function for each grammar rule
/// (topology/README.md); depth is limited by max_tree_depth.
class ExpressionReader {
  public:
    ExpressionReader(std::string_view text, int rank_count) : text_(text), ranks_(rank_count) {}

    Result<Tree> read() {
        skip_spaces();
        TreeSpec top;
        if (at_end() || is_digit(text_[at_])) {
            GRADCOLL_TRY(single_rank(top));
        } else {
            GRADCOLL_TRY(vertex(top, 0));
        }
        skip_spaces();
        if (!at_end()) return unexpected("the end: a tree has one outermost parenthesis");
        GRADCOLL_TRY(number_stars(top));
        if (const Status status = ranks_.complete(); !status.ok())
            return wrong(at_, status.message());
        return Tree::make(top);
    }

  private:
    Status single_rank(TreeSpec& leaf) {
        const std::size_t begin = at_;
        const Status status = number(leaf.rank, "( or a rank");
        return status.ok() ? claim(leaf.rank, begin) : status;
    }

    /// Parses the rule vertex := [kind [":" name] | "rank:" (rank | "*")] "(" item+ ")".
    Status vertex(TreeSpec& spec, int depth) {
        const std::size_t begin = at_;
        if (is_letter(text_[at_])) GRADCOLL_TRY(label(spec));
        if (at_end() || text_[at_] != '(')
            return unexpected(at_ == begin ? "( or a rank" : "( after kind and name");
        if (depth >= max_tree_depth)
            return wrong(at_,
                         fmt::format("parentheses nest deeper than the {} levels that are allowed",
                                     max_tree_depth));
        const std::size_t open = at_++;
        for (skip_spaces(); !at_end() && text_[at_] != ')'; skip_spaces())
            GRADCOLL_TRY(item(spec, depth));
        if (at_end())
            return unexpected(
                fmt::format("a rank, ( or the ) that closes the ( at {}", position(open)));
        if (spec.children.empty())
            return wrong(at_,
                         fmt::format("found ), expected a rank or (: the vertex at {} has no ranks",
                                     position(open)));
        ++at_;
        return {};
    }

    /// Parses the rule item := [count "x"] single [link].
    Status item(TreeSpec& parent, int depth) {
        const std::size_t begin = at_;
        const std::size_t first = parent.children.size();
        const Tally before = tally_;
        int count = 1;
        GRADCOLL_TRY(repetition(count));
        GRADCOLL_TRY(single(parent, depth));
        Uplink uplink;
        GRADCOLL_TRY(link(uplink));
        for (std::size_t i = first; i < parent.children.size(); ++i)
            parent.children[i].uplink = uplink;
        if (count == 1) return {};
        if (tally_.named != before.named)
            return wrong(begin,
                         "what is repeated has a name or a rank's number in it: leave names out "
                         "and write * for each rank");
        const std::int64_t copied = (tally_.vertices - before.vertices) * (count - 1);
        if (tally_.vertices + copied > max_repeated_vertices)
            return wrong(begin, fmt::format("the tree grows beyond the {} vertices that "
                                            "repetitions may make",
                                            max_repeated_vertices));
        tally_.vertices += copied;
        const TreeSpec original = parent.children[first];
        parent.children.insert(parent.children.end(), static_cast<std::size_t>(count - 1),
                               original);
        return {};
    }

    /// Skips `count "x"` if it is there.
    Status repetition(int& count) {
        std::size_t end = at_;
        while (end < text_.size() && is_digit(text_[end])) ++end;
        if (end == at_ || end == text_.size() || text_[end] != 'x') return {};
        const std::size_t begin = at_;
        GRADCOLL_TRY(number(count, "how many times"));
        if (count < 1 || count > max_tree_ranks)
            return wrong(begin, fmt::format("repeated {} times: 1 to {} are allowed", count,
                                            max_tree_ranks));
        ++at_;
        skip_spaces();
        return at_end() ? unexpected("what is repeated: *, ( or a kind") : Status{};
    }

    /// Parses the rule single := rank | rank "-" rank | "*" | vertex.
    Status single(TreeSpec& parent, int depth) {
        ++tally_.vertices;
        if (text_[at_] == '*') {
            ++at_;
            parent.children.emplace_back().rank = unnumbered;
            return leaf_end();
        }
        if (!is_digit(text_[at_])) return vertex(parent.children.emplace_back(), depth + 1);
        const std::size_t begin = at_;
        int first = 0;
        GRADCOLL_TRY(number(first, "a rank"));
        int last = first;
        if (!at_end() && text_[at_] == '-') {
            ++at_;
            GRADCOLL_TRY(number(last, "the last rank of the range"));
        }
        GRADCOLL_TRY(leaf_end());
        if (last < first)
            return wrong(begin, fmt::format("the range {}-{} runs backwards: write {}-{}", first,
                                            last, last, first));
        for (int rank = first; rank <= last; ++rank) {
            GRADCOLL_TRY(claim(rank, begin));
            parent.children.emplace_back().rank = rank;
        }
        ++tally_.named;
        return {};
    }

    Status leaf_end() const {
        if (at_end() || is_space(text_[at_]) || is_paren(text_[at_]) || text_[at_] == '@')
            return {};
        return unexpected("a space, ( or )");
    }

    /// Parses the rule link := "@" GB/s ["/" us].
    Status link(Uplink& uplink) {
        if (at_end() || text_[at_] != '@') return {};
        ++at_;
        GRADCOLL_TRY(figure(uplink.bandwidth_gbytes_per_s, "the link's GB/s"));
        if (at_end() || text_[at_] != '/') return {};
        ++at_;
        return figure(uplink.latency_us, "the link's latency in us");
    }

    Status figure(double& value, const char* expected) {
        const char* begin = text_.data() + at_;
        const char* end = text_.data() + text_.size();
        if (begin == end || !is_digit(*begin)) return unexpected(expected);
        const auto [stop, error] = std::from_chars(begin, end, value);
        if (error != std::errc{}) return unexpected(expected);
        at_ += static_cast<std::size_t>(stop - begin);
        return {};
    }

    /// Gives every * the lowest rank that is written nowhere and not yet given.
    Status number_stars(TreeSpec& spec) {
        if (spec.rank == unnumbered) {
            while (ranks_.contains(next_star_)) ++next_star_;
            spec.rank = next_star_;
            const Status status = ranks_.add(next_star_, at_);
            if (!status.ok()) return wrong(at_, status.message());
        }
        for (TreeSpec& child : spec.children) GRADCOLL_TRY(number_stars(child));
        return {};
    }

    Status label(TreeSpec& spec) {
        const std::size_t begin = at_;
        while (!at_end() && is_letter(text_[at_])) ++at_;
        const Result<VertexKind> kind = vertex_kind_from(text_.substr(begin, at_ - begin));
        if (!kind.ok()) return wrong(begin, kind.status().message());
        spec.kind = *kind;
        if (*kind == VertexKind::rank) return own_rank(spec, begin);
        if (at_end() || text_[at_] != ':') return {};
        const std::size_t name = ++at_;
        while (!at_end() && !is_space(text_[at_]) && !is_paren(text_[at_])) ++at_;
        spec.name = text_.substr(name, at_ - name);
        ++tally_.named;
        if (spec.name.empty()) return unexpected("a name after the colon");
        if (spec.name.size() > max_name_bytes)
            return wrong(name, fmt::format("the name has {} bytes: at most {} are allowed",
                                           spec.name.size(), max_name_bytes));
        return {};
    }

    /// Reads the number of a rank that others hang on, behind its kind.
    Status own_rank(TreeSpec& spec, std::size_t begin) {
        if (at_end() || text_[at_] != ':')
            return wrong(begin,
                         "found rank, expected another kind, or rank:3( for a rank that others "
                         "hang on: ranks alone are plain numbers");
        const std::size_t place = ++at_;
        if (!at_end() && text_[at_] == '*') {
            ++at_;
            spec.rank = unnumbered;
            return {};
        }
        GRADCOLL_TRY(number(spec.rank, "a rank or * after the colon"));
        ++tally_.named;
        return claim(spec.rank, place);
    }

    Status number(int& value, const char* expected) {
        const char* begin = text_.data() + at_;
        const char* end = text_.data() + text_.size();
        if (begin == end || !is_digit(*begin)) return unexpected(expected);
        const auto [stop, error] = std::from_chars(begin, end, value);
        if (error != std::errc{})
            return wrong(at_, fmt::format("rank {} is too large: at most {} ranks are allowed",
                                          token(), max_tree_ranks));
        at_ += static_cast<std::size_t>(stop - begin);
        return {};
    }

    Status claim(int rank, std::size_t place) {
        const Status status = ranks_.add(rank, place);
        if (status.ok()) return {};
        const bool twice = ranks_.contains(rank);
        return wrong(place, status.message() +
                                (twice ? ", first at " + position(ranks_.place_of(rank)) : ""));
    }

    void skip_spaces() {
        while (!at_end() && is_space(text_[at_])) ++at_;
    }
    bool at_end() const { return at_ == text_.size(); }

    /// Returns the text at the reading position, shortened.
    std::string token() const {
        std::size_t end = at_ + 1;
        if (!is_paren(text_[at_]))
            while (end < text_.size() && !is_space(text_[end]) && !is_paren(text_[end])) ++end;
        return printable(text_.substr(at_, std::min<std::size_t>(end - at_, 24)));
    }

    std::string position(std::size_t offset) const {
        const std::string_view before = text_.substr(0, offset);
        const auto line = std::count(before.begin(), before.end(), '\n') + 1;
        const std::size_t newline = before.rfind('\n');
        const std::size_t column = newline == before.npos ? offset + 1 : offset - newline;
        return fmt::format("line {}, column {}", line, column);
    }
    Status unexpected(std::string_view expected) const {
        return wrong(at_, fmt::format("found {}, expected {}",
                                      at_end() ? "the end of the text" : token(), expected));
    }
    Status wrong(std::size_t offset, const std::string& what) const {
        return {Code::invalid_argument,
                fmt::format("topology expression: {}: {}", position(offset), what)};
    }

    /// A Tally counts what has been read, to decide whether it may be repeated.
    struct Tally {
        std::int64_t vertices = 0;
        std::int64_t named = 0;  ///< names and numbered ranks
    };
    static constexpr int unnumbered = -2;  ///< the rank of a * until all others are known
    static constexpr std::int64_t max_repeated_vertices = 2 * std::int64_t{max_tree_ranks};

    std::string_view text_;
    std::size_t at_ = 0;
    RankLedger ranks_;
    Tally tally_;
    int next_star_ = 0;
};

/// Returns how many of the leaves `children[first...]` have successive ranks; at least one.
std::size_t run_length(const Tree& tree, std::span<const int> children, std::size_t first) {
    const int rank = tree.vertex(children[first]).rank;
    std::size_t length = 1;
    while (first + length < children.size() &&
           tree.vertex(children[first + length]).rank == rank + static_cast<int>(length))
        ++length;
    return length;
}

void write_vertex(const Tree& tree, int id, std::string& out) {
    if (tree.is_leaf(id)) {
        out += fmt::to_string(tree.vertex(id).rank);
        return;
    }
    const auto children = tree.children(id);
    out += '(';
    for (std::size_t c = 0; c < children.size();) {
        if (c > 0 && out.back() != ')' && tree.is_leaf(children[c])) out += ' ';
        write_vertex(tree, children[c], out);
        const std::size_t run = tree.is_leaf(children[c]) ? run_length(tree, children, c) : 1;
        if (run >= 3)
            out += fmt::format("-{}", tree.vertex(children[c]).rank + static_cast<int>(run) - 1);
        c += run >= 3 ? run : 1;
    }
    out += ')';
}

}  // namespace

Result<Tree> tree_from_expression(std::string_view text, int rank_count) {
    return ExpressionReader(text, rank_count).read();
}

std::string expression_of(const Tree& tree) {
    std::string out;
    write_vertex(tree, tree.root(), out);
    return out;
}

}  // namespace gradcoll
