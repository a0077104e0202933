// report/snapshot.hpp - one call as the report is told of it, a report as plain data at one moment,
// and its written forms. Pure.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_kind.hpp"
#include "base/figures.hpp"
#include "collectives/predict/links.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// CallRecord is one call as this rank saw it.
struct CallRecord {
    CallKind kind = CallKind::allreduce;
    std::uint64_t bytes = 0;            ///< size of the whole vector, uncompressed
    const char* pass_reason = nullptr;  ///< static text: why MPI served it; null: this library did
    bool shared_memory = false;         ///< no tree: through the memory that one host's ranks share
    bool lossy = false;                 ///< some hop was compressed
    const char* builder = nullptr;      ///< static text: who made the plan, if not flexreduce
    const char* agents = nullptr;  ///< static text: what NIC agents did of it; null: there are none
    std::uint64_t bytes_sent = 0;  ///< what this rank sent: on the wire, or into the shared memory
    std::uint64_t bytes_sent_exact = 0;   ///< what it would have sent with the exact codec
    std::uint64_t packed_away_bytes = 0;  ///< bytes that packing without loss saved
    std::uint64_t messages_sent = 0;
    std::uint64_t total_ns = 0;  ///< from call to return (blocking calls that were served)
    std::uint64_t codec_ns = 0;  ///< time in encode and decode, and packing
    std::uint64_t wire_ns = 0;   ///< waiting for messages
};

/// CallSums are calls added up.
struct CallSums {
    std::uint64_t calls = 0;
    std::uint64_t served =
        0;  ///< calls that this library served: over the tree or through shared memory
    std::uint64_t over_shared_memory = 0;  ///< how many of the served ones went so
    std::uint64_t compressed = 0;          ///< how many of the served ones were
    std::uint64_t passed = 0;
    std::uint64_t bytes_in = 0;  ///< none for allreduce_init: its starts bring them
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_sent_exact = 0;
    std::uint64_t packed_away_bytes = 0;
    std::uint64_t messages_sent = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t codec_ns = 0;
    std::uint64_t wire_ns = 0;

    void add(const CallRecord& call);
    void add(const CallSums& others);
};

/// TextCount counts calls by a static text.
struct TextCount {
    const char* text = "";
    std::uint64_t calls = 0;
};

/// CallCell has the calls of one kind and size bin on one communicator.
struct CallCell {
    CallKind kind = CallKind::allreduce;
    int size_bin = 0;
    CallSums all;
    CallSums lossy;                   ///< the compressed ones among them
    std::vector<TextCount> reasons;   ///< why calls passed
    std::vector<TextCount> builders;  ///< builders but flexreduce
    std::vector<TextCount> agents;    ///< what NIC agents did, or why nothing; none without agents

    /// Adds a call; allocates only for a text that is new here.
    void add(const CallRecord& call);
    /// Returns what compression saved, estimated: at the same speed of the wire the exact bytes
    /// would have taken lossy.wire * exact / sent; the difference, less the time in the codec. It
    /// is negative if it cost time, and missing if nothing was compressed, or no time on the wire
    /// was measured.
    std::optional<double> saved_seconds() const;
};

/// SumError says how far one sum is off.
struct SumError {
    double max_abs = 0;
    double relative_l2 = 0;
    double promised = 0;  ///< max_abs is at most this; 0: nothing was promised
};

/// ErrorCell has the measured errors of one size bin.
struct ErrorCell {
    int size_bin = 0;
    std::uint64_t measurements = 0;
    double max_abs = 0;
    std::uint64_t promises = 0;  ///< measurements of sums with one
    double least_promised = 0;   ///< least promise of those
    double most_of_promise = 0;  ///< largest max_abs / promised of one: above 1 it was broken
    double max_relative_l2 = 0;
    double sum_relative_l2 = 0;

    void add(const SumError& error);
    double mean_relative_l2() const {
        return measurements > 0 ? sum_relative_l2 / static_cast<double>(measurements) : 0;
    }
};

/// EngineSums is what the engines on a communicator did, added up; the largest is taken of what was
/// at one time.
struct EngineSums {
    std::uint64_t engines = 0;
    EngineFigures figures;

    void add(const EngineFigures& engine);
    /// Returns the part of the time that sums took which the program did not wait for; none if they
    /// took none.
    std::optional<double> overlap() const;
};

/// CodecLeftOut is a codec that calls of one size were not given, because it takes longer than it
/// saves.
struct CodecLeftOut {
    std::uint64_t bytes = 0;  ///< size of the vector
    int level = 0;  ///< level of the tree; negative: everywhere, as memory serves the call
    std::string codec;
    double compressed_us = 0;  ///< prediction with the codec ...
    double exact_us = 0;       ///< ... and without it
};

/// WayTrial is exact calls of one size that were made both ways (GC_TUNE): the mean over ranks of
/// each way's fastest call.
struct WayTrial {
    std::uint64_t bytes = 0;  ///< size of the vector
    double ours_us = 0;
    double mpi_us = 0;
    bool passes = false;  ///< such calls go by the MPI library from then on
};

/// TreeTraffic is what calls put on the links of a tree, all ranks together, as their plans say.
struct TreeTraffic {
    Tree tree;
    std::uint64_t calls = 0;
    std::vector<LinkBytes> links;  ///< one for each vertex: the link above it
};

struct TreeUse {
    std::string expression;
    std::string origin;
    std::uint64_t communicators = 0;
};

/// CommEntry has the communicators of one name and size.
struct CommEntry {
    std::string name;
    int rank_count = 0;  ///< 0 if sizes differ
    std::uint64_t communicators = 0;
    std::vector<TreeUse> trees;          ///< the first few that differ
    std::uint64_t trees_not_listed = 0;  ///< communicators with yet others
    std::vector<CallCell> calls;         ///< sorted by kind, then by size; none without calls
    std::vector<ErrorCell> errors;       ///< sorted by size
    std::vector<CodecLeftOut> left_out;  ///< the first few, by size and level
    std::uint64_t left_out_not_listed = 0;
    std::vector<WayTrial> trials;      ///< in the order in which they ended
    std::vector<TreeTraffic> traffic;  ///< the first few trees; only for whoever draws it
    EngineSums engines;
};

/// ReportProcess is what is known of the process; it appears at the top.
struct ReportProcess {
    int world_rank = 0;
    int world_size = 1;
    std::string host;
    std::int64_t process_id = 0;
    std::string mpi;      ///< the MPI library's version, one line
    std::string version;  ///< ours
    std::string command;  ///< what the process was started with; empty if not known
};

/// RankSums is what all calls of one rank add up to.
struct RankSums {
    int rank = 0;  ///< in MPI_COMM_WORLD
    std::string host;
    CallSums sums;
};

/// SiteCalls has the calls of one kind that came from one place of the program.
struct SiteCalls {
    std::string place;
    CallKind kind = CallKind::allreduce;
    CallSums sums;
};

struct ReportSnapshot {
    ReportProcess process;
    std::int64_t start_unix_ns = 0;
    double seconds = 0;  ///< time since then
    NicFigures nic;
    std::vector<CommEntry> comms;
    std::vector<RankSums> ranks;   ///< sums of the whole job; empty: not known
    std::vector<SiteCalls> sites;  ///< if asked for: the first few, by time and calls
    std::uint64_t sites_not_listed = 0;
};

struct ReportTotal {
    CallSums sums;
    std::optional<double> saved_seconds;  ///< sum of the cells' estimates; none if none has one
};
ReportTotal total_of(const ReportSnapshot& report);

/// Returns a text for people, at most 100 columns wide but for what cannot be broken (paths,
/// command lines).
std::string report_text(const ReportSnapshot& report);
/// Returns the form that docs/report.md describes. It ends with a newline. Bytes that are no UTF-8
/// are replaced.
std::string report_json(const ReportSnapshot& report);
/// Returns one HTML document that needs nothing else and has no scripts. Strict XML parsers read
/// it, too.
std::string report_html(const ReportSnapshot& report);

/// Returns a time such as 2026-11-21T19:20:00Z.
std::string utc_text(std::int64_t unix_ns);

}  // namespace gradcoll
