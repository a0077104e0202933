// fabric/infiniband/infiniband.cpp - reads two texts with the same content: the output of
// ibnetdiscover, blocks with a line for each port, and netloc's ib-subnet-*.txt (ibnetdiscover -p),
// in which each line is a port.
//
// The first word of its adapters' description names a host; adapters without one (aggregation
// nodes, vendor names alone) are no hosts. Speeds are data rates: 4xQDR is 4 GB/s, 4xNDR 50 GB/s.
#include <array>
#include <optional>
#include <vector>

#include "fabric/formats.hpp"
#include "fabric/infiniband/ib_reader.hpp"
#include "fabric/lines.hpp"

namespace gradcoll {
namespace {

using Kind = IbReader::Kind;

/// Cursor reads one line from the left.
class Cursor {
  public:
    explicit Cursor(std::string_view text) : rest_(text) {}

    bool skip(std::string_view expected) {
        rest_ = trimmed(rest_);
        if (!rest_.starts_with(expected)) return false;
        rest_.remove_prefix(expected.size());
        return true;
    }
    /// Returns the text between `open`, which must be next, and the first `close` after it.
    std::optional<std::string_view> between(std::string_view open, std::string_view close) {
        if (!skip(open)) return std::nullopt;
        const std::size_t end = rest_.find(close);
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view inside = rest_.substr(0, end);
        rest_.remove_prefix(end + close.size());
        return inside;
    }
    std::optional<std::string_view> word() {
        rest_ = trimmed(rest_);
        if (rest_.empty()) return std::nullopt;
        const std::string_view found = rest_.substr(0, rest_.find_first_of(" \t"));
        rest_.remove_prefix(found.size());
        return found;
    }
    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
};

std::optional<Kind> kind_from(std::string_view word) {
    constexpr std::pair<std::string_view, Kind> kinds[] = {
        {"Switch", Kind::fabric_switch}, {"Ca", Kind::adapter}, {"Rt", Kind::router},
        {"SW", Kind::fabric_switch},     {"CA", Kind::adapter}, {"RT", Kind::router}};
    for (const auto& [name, kind] : kinds)
        if (word == name) return kind;
    return std::nullopt;
}

/// Reads a device as ibnetdiscover writes it: the kind is the first letter of "S-0008f105001084fa".
/// Its port is still 0. Returns nothing if the line goes on in another way.
std::optional<IbReader::Port> identifier_at(Cursor& cursor) {
    const std::optional<std::string_view> identifier = cursor.between("\"", "\"");
    if (!identifier) return std::nullopt;
    if (identifier->starts_with("S-")) return IbReader::Port{Kind::fabric_switch, *identifier};
    if (identifier->starts_with("H-")) return IbReader::Port{Kind::adapter, *identifier};
    if (identifier->starts_with("R-")) return IbReader::Port{Kind::router, *identifier};
    return std::nullopt;
}

/// Returns the description in a line's comment: the text between its first and its last quote,
/// since it may hold quotes itself.
std::string_view quoted_in(std::string_view comment) {
    const std::size_t first = comment.find('"');
    const std::size_t last = comment.rfind('"');
    return first == last ? std::string_view() : comment.substr(first + 1, last - first - 1);
}

class NetDiscover {
  public:
    explicit NetDiscover(std::string_view text) : lines_(text) {}

    Result<Fabric> read() {
        while (lines_.next()) GRADCOLL_TRY(line());
        return reader_.take();
    }

  private:
    Status line() {
        const std::string_view text = lines_.line();
        if (text.front() == '[') return port(text);
        Cursor cursor(text);
        const std::string_view word = *cursor.word();
        if (kind_from(word)) return device(cursor);
        const bool says_nothing = word.find('=') != std::string_view::npos || word == "Chassis" ||
                                  word == "Non-Chassis" || word == "Spine" || word == "Line";
        if (says_nothing) return {};
        return lines_.error(text, "Switch, Ca, Rt, [port] or key=value");
    }

    /// Reads a line such as
    /// Switch 36 "S-0008f105001084fa" # "leaf" enhanced port 0 lid 56 lmc 0
    Status device(Cursor cursor) {
        const auto ports = cursor.word();
        const auto identified = identifier_at(cursor);
        if (!ports || !number_in(*ports) || !identified)
            return lines_.error(
                lines_.line(),
                "a number of ports and an identifier (Switch 36 \"S-0008f105001084fa\")");
        current_ = *identified;
        reader_.describe(current_.kind, current_.guid, quoted_in(cursor.rest()));
        return {};
    }

    /// Reads a line such as
    /// [35] "S-2c5eab0300c26280"[32] # "spine" lid 236 4xNDR
    /// [1](e09d730300232e5c) "S-2c5eab0300c26480"[9] # lid 93 lmc 0 "leaf" lid 119 4xNDR
    Status port(std::string_view text) {
        Cursor cursor(text);
        const auto number = port_number(cursor);
        auto peer = identifier_at(cursor);
        const auto peer_number = peer ? port_number(cursor) : std::nullopt;
        if (!number || !peer || !peer_number)
            return lines_.error(text, "[port] \"identifier\"[port] ([35] \"S-2c5eab03\"[32])");
        if (current_.guid.empty())
            return lines_.error(text, "a Switch, Ca or Rt line before its ports");
        const auto speed = speed_at_end(text);
        if (!speed)
            return lines_.error(text, "width and speed at the end of the line, such as 4xNDR");
        const std::string_view comment = cursor.rest();
        if (const std::size_t hash = comment.find('#'); hash != std::string_view::npos)
            reader_.describe(peer->kind, peer->guid, quoted_in(comment.substr(hash)));
        current_.number = *number;
        peer->number = *peer_number;
        reader_.connect(current_, *peer, *speed);
        return {};
    }

    /// Returns the number in the first brackets of "[1]", "[1][ext 12]", "[1](2c5eab0300b87b40)".
    static std::optional<int> port_number(Cursor& cursor) {
        const auto number = cursor.between("[", "]");
        while (cursor.between("[", "]") || cursor.between("(", ")")) continue;
        return number ? number_in(*number) : std::nullopt;
    }

    static std::optional<double> speed_at_end(std::string_view text) {
        const std::string_view last = text.substr(text.find_last_of(" \t") + 1);
        const std::size_t x = last.find('x');
        if (x == std::string_view::npos) return std::nullopt;
        return ib_gbytes_per_s(last.substr(0, x + 1), last.substr(x + 1));
    }

    Lines lines_;
    IbReader reader_;
    IbReader::Port current_ = {Kind::adapter, {}};
};

class Subnet {
  public:
    explicit Subnet(std::string_view text) : lines_(text) {}

    Result<Fabric> read() {
        while (lines_.next())
            if (!lines_.line().starts_with("DR path")) GRADCOLL_TRY(line());
        return reader_.take();
    }

  private:
    /// Reads a line such as
    /// SW 142 4 0x0008f10500108c9e 4x QDR - CA 102 1 0x14feb59097fee9ad ( 'leaf' - 'node7 HCA-1' )
    /// An empty port ends after the speed: SW 142 35 0x0008f10500108c9e 4x ??? 'leaf'
    Status line() {
        Cursor cursor(lines_.line());
        const auto end = port(cursor);
        const auto width = cursor.word(), speed = cursor.word();
        if (!end || !width || !speed)
            return lines_.error(lines_.line(), "SW, CA or RT, lid, port, guid, width and speed");
        const auto gbytes_per_s = ib_gbytes_per_s(*width, *speed);
        if (!gbytes_per_s)
            return lines_.error(*width, "a width of 1x, 2x, 4x, 8x or 12x and a speed");
        if (!cursor.skip("- ")) return {};
        const auto peer = port(cursor);
        const auto description = cursor.between("( '", "' - '");
        const auto peer_description = description ? cursor.between("", "' )") : std::nullopt;
        if (!peer || !peer_description)
            return lines_.error(lines_.line(),
                                "after the dash: SW, CA or RT, lid, port, guid, ( 'one end' - "
                                "'other end' )");
        reader_.describe(end->kind, end->guid, *description);
        reader_.describe(peer->kind, peer->guid, *peer_description);
        reader_.connect(*end, *peer, *gbytes_per_s);
        return {};
    }

    /// Reads a port such as SW 142 4 0x0008f10500108c9e.
    static std::optional<IbReader::Port> port(Cursor& cursor) {
        std::array<std::string_view, 4> words;
        for (std::string_view& word : words) {
            const auto next = cursor.word();
            if (!next) return std::nullopt;
            word = *next;
        }
        const auto kind = kind_from(words[0]);
        const auto number = number_in(words[2]);
        if (!kind || !number_in(words[1]) || !number) return std::nullopt;
        return IbReader::Port{*kind, words[3], *number};
    }

    Lines lines_;
    IbReader reader_;
};

bool is_ibnetdiscover(std::string_view line) {
    for (const std::string_view start :
         {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid="})
        if (line.starts_with(start)) return true;
    const std::vector<std::string_view> words = words_of(line);
    return words.size() >= 3 && (words[0] == "Switch" || words[0] == "Ca" || words[0] == "Rt") &&
           number_in(words[1]) && words[2].front() == '"';
}

bool is_ib_subnet(std::string_view line) {
    if (line.starts_with("DR path")) return true;
    const std::vector<std::string_view> words = words_of(line);
    return words.size() >= 6 && (words[0] == "SW" || words[0] == "CA" || words[0] == "RT") &&
           number_in(words[1]) && number_in(words[2]) && words[3].starts_with("0x");
}

}  // namespace

FabricFormat ibnetdiscover_fabric_format() {
    return {.name = "ibnetdiscover",
            .family = "InfiniBand",
            .listed = "ibnetdiscover",
            .is_line = is_ibnetdiscover,
            .read = [](std::string_view text) { return NetDiscover(text).read(); }};
}

FabricFormat ib_subnet_fabric_format() {
    return {.name = "ib-subnet",
            .family = "InfiniBand",
            .listed = "netloc's ib-subnet",
            .is_line = is_ib_subnet,
            .read = [](std::string_view text) { return Subnet(text).read(); }};
}

}  // namespace gradcoll
