// report/rows.hpp - what a report says, as words: the rows of its tables and its sentences. The
// form for people and the one for browsers both write these, so neither can say something else.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/snapshot.hpp"

namespace gradcoll {

using Row = std::vector<std::string>;

/// Returns a name or path: at most 160 bytes of it, control characters as '?'.
std::string shortened(std::string_view text);

/// Each kind of calls has a row for each size, with these columns.
inline constexpr std::array<std::string_view, 12> call_columns = {
    "bytes", "calls", "served", "compr.", "passed", "in",
    "sent",  "ratio", "time",   "codec",  "wire",   "saved"};
Row call_row(const CallCell& cell);

inline constexpr std::array<std::string_view, 5> error_columns = {
    "bytes", "measured", "largest abs.", "relative L2, largest", "relative L2, mean"};
Row error_row(const ErrorCell& error);
/// Returns a line for each size that was promised something.
std::vector<std::string> promise_lines(const CommEntry& comm);

inline constexpr std::array<std::string_view, 5> left_out_columns = {"bytes", "codec", "where",
                                                                     "a call with", "without"};
Row left_out_row(const CodecLeftOut& one);
std::vector<std::string> left_out_rest(const CommEntry& comm);

/// The rows are exact calls that were made both ways to learn which is faster; times are of one
/// call.
inline constexpr std::array<std::string_view, 5> trial_columns = {"bytes", "here", "by MPI",
                                                                  "saved a call", "then"};
Row trial_row(const WayTrial& trial);

/// The rows are sums over ranks, and how far apart they are.
inline constexpr std::array<std::string_view, 6> rank_columns = {
    "over all ranks", "sum", "mean", "least", "most", "most / mean"};
std::vector<Row> rank_rows(const std::vector<RankSums>& ranks);

/// The rows say where in the program calls came from.
inline constexpr std::array<std::string_view, 7> site_columns = {"calls", "served", "passed", "in",
                                                                 "time",  "call",   "from"};
Row site_row(const SiteCalls& site);
std::vector<std::string> sites_rest(const ReportSnapshot& report);

/// Returns a title such as "allreduce: 16 ranks, 3 communicators".
std::string comm_title(const CommEntry& comm);
std::vector<std::string> tree_lines(const CommEntry& comm);

/// Counted says how often what was the reason, or the builder; the most frequent comes first.
struct Counted {
    std::string_view what;  ///< "passed", "built"
    std::string calls;
    std::string by;
};
/// Returns the lines for calls of one kind: `first` to before `last` of the entry.
std::vector<Counted> counted_lines(const CommEntry& comm, std::size_t first, std::size_t last);
/// Returns the index behind the last call of the kind that begins at `first`.
std::size_t end_of_kind(const CommEntry& comm, std::size_t first);

/// Return a first line and what belongs to it; nothing if there is nothing to say.
std::vector<std::string> process_lines(const ReportSnapshot& report);
std::vector<std::string> engine_lines(const CommEntry& comm);
std::vector<std::string> nic_lines(const NicFigures& figures);
std::vector<std::string> total_lines(const ReportSnapshot& report);

/// Returns whether there is nothing to say of it.
bool is_empty(const CommEntry& comm);

inline constexpr int size_bin_count = 15;

int size_bin_of(std::uint64_t bytes);
/// Returns the smallest size of a bin.
std::uint64_t size_bin_begin(int bin);
/// Returns the smallest size above a bin; 0 for the last one, which has no end.
std::uint64_t size_bin_end(int bin);
/// Returns a label such as "0", "1-63", "64-255", "256-1K", "1K-4K", ... "1G+": the end is not
/// included where it has a unit.
std::string size_bin_label(int bin);

}  // namespace gradcoll
