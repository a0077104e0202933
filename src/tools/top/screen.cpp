#include "jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "topology/vertex.hpp"

namespace gradcoll::top {

namespace {

using Out = std::back_insert_iterator<std::string>;
constexpr const char* row_format = "{:>8}{:>9}{:>8}{:>8}{:>8}{:>9}{:>9}{:>6}{:>9}{:>8}{:>8}  {}\n";

/// Returns the text without control characters, since commands come from elsewhere and go to a
/// terminal.
std::string plain(std::string text, std::size_t most) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') c = '?';
    return text.size() > most ? text.substr(0, most - 3) + "..." : text;
}

std::string rate(double amount, double seconds) {
    return count_text(static_cast<std::uint64_t>(std::llround(amount / seconds)));
}

std::string bytes_rate(double bytes, double seconds) {
    return bytes_text(static_cast<std::uint64_t>(std::llround(bytes / seconds)));
}

/// Returns the part of the time that passed for so many ranks, in per cent.
std::string part(double ns, double seconds, std::size_t ranks) {
    return fmt::format("{:.0f} %", ns * 1e-7 / seconds / static_cast<double>(ranks));
}

std::string ratio(const RankWindow& rank) {
    const double sent = rank.of(LiveFigure::bytes_sent);
    return sent > 0 ? fmt::format("{:.2f}", rank.of(LiveFigure::bytes_sent_exact) / sent) : "-";
}

/// Writes a row. `ranks` is the number of ranks that the figures are of.
void write_row(const std::string& name, const RankWindow& of, std::size_t ranks, double seconds,
               Out out) {
    fmt::format_to(
        out, row_format, name, rate(of.of(LiveFigure::calls), seconds),
        rate(of.of(LiveFigure::served), seconds), rate(of.of(LiveFigure::compressed), seconds),
        rate(of.of(LiveFigure::passed), seconds), bytes_rate(of.of(LiveFigure::bytes_in), seconds),
        bytes_rate(of.of(LiveFigure::bytes_sent), seconds), ratio(of),
        part(of.of(LiveFigure::total_ns), seconds, ranks),
        part(of.of(LiveFigure::wire_ns), seconds, ranks),
        part(of.of(LiveFigure::codec_ns), seconds, ranks), plain(of.codec, 14));
}

/// Adds a link to the sums. Ranks below one link share it.
void add_link(std::vector<OwnLink>& sums, const OwnLink& link) {
    const auto same = std::find_if(sums.begin(), sums.end(),
                                   [&](const OwnLink& sum) { return sum.key == link.key; });
    if (same == sums.end()) {
        sums.push_back(link);
        return;
    }
    same->up_bytes += link.up_bytes;
    same->down_bytes += link.down_bytes;
}

RankWindow sum_of(const Job& job) {
    RankWindow sum{job.ranks.front().facts, "", {}, {}, {}};
    for (const RankWindow& rank : job.ranks) {
        if (sum.codec.empty()) sum.codec = rank.codec;
        for (std::size_t i = 0; i < sum.figures.size(); ++i) sum.figures[i] += rank.figures[i];
        for (const OwnLink& link : rank.links) add_link(sum.links, link);
    }
    return sum;
}

/// Writes the bytes a second of all ranks here, by where the way from rank to rank turns.
void write_links(const RankWindow& sum, double seconds, Out out) {
    std::string text;
    double in_messages = 0;
    for (std::size_t k = 0; k < sent_kind_count; ++k) {
        const auto kind = static_cast<VertexKind>(k);
        const double bytes = sum.of(sent_at(kind));
        in_messages += bytes;
        if (bytes > 0) text += fmt::format("  {} {}/s", name_of(kind), bytes_rate(bytes, seconds));
    }
    const double in_memory = sum.of(LiveFigure::bytes_sent) - in_messages;
    if (in_memory > 0) text += fmt::format("  shared memory {}/s", bytes_rate(in_memory, seconds));
    if (!text.empty()) fmt::format_to(out, "  sent at{}\n", text);
}

double used(std::uint64_t bytes, const OwnLink& link, double seconds) {
    return static_cast<double>(bytes) / (link.gbytes_per_s * 1e9 * seconds);
}

/// A Level names the level of links: they share it if they lead to vertices of one kind and name.
using Level = std::pair<VertexKind, std::string>;

/// Writes, for the links of one level, the one that has least left, by the bytes of ranks here.
void write_level(const Level& level, const std::vector<const OwnLink*>& links, double seconds,
                 Out out) {
    const auto share = [&](const OwnLink& link) {
        return used(std::max(link.up_bytes, link.down_bytes), link, seconds);
    };
    const OwnLink& busiest = **std::max_element(
        links.begin(), links.end(),
        [&](const OwnLink* a, const OwnLink* b) { return share(*a) < share(*b); });
    const auto named = [](const std::string& name) {
        return name.empty() ? std::string() : fmt::format(" {}", plain(name, 24));
    };
    fmt::format_to(out, "  link{} to {}{}: up {:.0f} %, down {:.0f} % of {:.4g} GB/s{}\n",
                   named(busiest.name), name_of(level.first), named(level.second),
                   100 * used(busiest.up_bytes, busiest, seconds),
                   100 * used(busiest.down_bytes, busiest, seconds), busiest.gbytes_per_s,
                   links.size() > 1 ? fmt::format(" (of {}, the busiest)", links.size()) : "");
}

void write_link_shares(const std::vector<OwnLink>& links, double seconds, Out out) {
    std::map<Level, std::vector<const OwnLink*>> levels;
    for (const OwnLink& link : links) levels[{link.to_kind, link.to_name}].push_back(&link);
    for (const auto& [level, at_level] : levels) write_level(level, at_level, seconds, out);
}

/// Writes who has waited for others for long, and who does not wait, if somebody does; and below
/// that for what.
void write_waits(const Job& job, Out out) {
    constexpr std::uint64_t long_ns = 1'000'000'000;
    constexpr std::size_t most_reasons = 4;
    constexpr std::size_t widest_reason = 94;
    std::vector<int> waiting, others;
    std::map<std::string, std::vector<int>> reasons;
    std::uint64_t longest_ns = 0;
    for (const RankWindow& rank : job.ranks) {
        const bool waits = !rank.waits.empty() && rank.waits.front().waits_ns >= long_ns;
        (waits ? waiting : others).push_back(rank.facts.rank);
        if (!waits) continue;
        reasons[rank.waits.front().what].push_back(rank.facts.rank);
        longest_ns = std::max(longest_ns, rank.waits.front().waits_ns);
    }
    if (waiting.empty()) return;
    fmt::format_to(out, "  {} wait{} for others, up to {}; {}\n", ranks_text(waiting),
                   waiting.size() == 1 ? "s" : "", seconds_text(seconds_of(longest_ns)),
                   others.empty() ? "so do all ranks here"
                                  : ranks_text(others) + (others.size() == 1 ? " does" : " do") +
                                        " not wait here");
    std::size_t written = 0;
    for (const auto& [what, ranks] : reasons)
        if (!what.empty() && ++written <= most_reasons)
            fmt::format_to(out, "    {}\n",
                           plain(fmt::format("{}: {}", ranks_text(ranks), what), widest_reason));
}

void write_job(const Job& job, double seconds, int most_ranks, Out out) {
    const RankWindow sum = sum_of(job);
    fmt::format_to(out, "\n{}\n  {} of {} here\n", plain(sum.facts.command, 98),
                   counted(job.ranks.size(), "rank"), sum.facts.ranks);
    fmt::format_to(out, row_format, "rank", "calls/s", "served", "compr.", "passed", "in/s",
                   "sent/s", "ratio", "in calls", "wire", "codecs", "codec");
    write_row("all", sum, job.ranks.size(), seconds, out);
    std::vector<RankWindow> shown = job.ranks;
    const auto most = static_cast<std::size_t>(most_ranks);
    if (shown.size() > most) {
        std::stable_sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) {
            return a.of(LiveFigure::total_ns) > b.of(LiveFigure::total_ns);
        });
        shown.resize(most);
    }
    for (const RankWindow& rank : shown)
        write_row(std::to_string(rank.facts.rank), rank, 1, seconds, out);
    if (shown.size() < job.ranks.size())
        fmt::format_to(out, "  and {} that were in calls for less time\n",
                       counted(job.ranks.size() - shown.size(), "rank"));
    write_waits(job, out);
    write_links(sum, seconds, out);
    write_link_shares(sum.links, seconds, out);
}

}  // namespace

std::string screen_of(const std::vector<Job>& jobs, double seconds, int most_ranks) {
    std::string text;
    const Out out = std::back_inserter(text);
    fmt::format_to(out, "gradcoll top: {} with GC_TOP on this host, last {}\n",
                   counted(jobs.size(), "job"), seconds_text(seconds));
    for (const Job& job : jobs) write_job(job, seconds, most_ranks, out);
    return text;
}

}  // namespace gradcoll::top
