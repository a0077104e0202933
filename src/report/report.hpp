// report/report.hpp - what the calls of this process did, added up by communicator and size: the
// report that GC_REPORT prints at the end. Knows no MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gradcoll {

struct ReportSnapshot;

enum class CallKind : std::uint8_t {
    allreduce,
    iallreduce,
    persistent,  ///< one start of a persistent allreduce
    allreduce_init,
    reduce_scatter_block,
    reduce_scatter,
    allgather
};
std::string_view name_of(CallKind kind);

/// One call as this rank saw it.
struct CallRecord {
    CallKind kind = CallKind::allreduce;
    std::uint64_t bytes = 0;             ///< of the whole vector, uncompressed
    const char* pass_reason = nullptr;   ///< static text: why MPI served it; null: the tree did
    bool lossy = false;                  ///< some hop was compressed
    std::uint64_t bytes_sent = 0;        ///< on the wire by this rank
    std::uint64_t bytes_sent_exact = 0;  ///< what it would have sent with the exact codec
    std::uint64_t messages_sent = 0;
    std::uint64_t total_ns = 0;  ///< from call to return (blocking calls on the tree)
    std::uint64_t codec_ns = 0;  ///< in encode and decode
    std::uint64_t wire_ns = 0;   ///< waiting for messages
};

/// Thread safe.
class Report {
  public:
    /// A communicator's number in the report.
    using CommId = std::uint32_t;

    /// What is known of the process; appears at the top.
    struct Process {
        int world_rank = 0;
        int world_size = 1;
        std::string host;
        std::int64_t process_id = 0;
        std::string mpi;      ///< the MPI library's version, one line
        std::string version;  ///< ours
        std::string command;  ///< what the process was started with; empty if not known
    };

    explicit Report(Process process);
    ~Report();

    /// A communicator that is seen for the first time. Those with the same name and size share an
    /// entry; a program may make thousands. Entries are bounded (256): what finds no room shares
    /// the last one, "other communicators".
    CommId add_comm(std::string_view name, int rank_count);
    /// Once it is attached: the tree as an expression, and where it came from.
    void set_tree(CommId comm, std::string_view expression, std::string_view origin);
    /// A lock and some additions; allocates only for the first call of a kind and size on `comm`,
    /// and for a reason that is new there.
    void add_call(CommId comm, const CallRecord& call);
    /// A compressed call's result compared with the exact sums: largest absolute difference, and
    /// the relative L2 difference.
    void add_error(CommId comm, std::uint64_t bytes, double max_abs, double relative_l2);

    /// What was added up so far, as data (report/snapshot.hpp) and in its two written forms.
    ReportSnapshot snapshot() const;
    std::string text() const;
    std::string json() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gradcoll
