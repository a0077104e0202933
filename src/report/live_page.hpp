// report/live_page.hpp - the counters of a running process in a small file in memory, which it
// writes with plain additions (GC_TOP) and gradcoll top reads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "base/signal_text.hpp"
#include "base/status.hpp"
#include "report/link_use.hpp"

namespace gradcoll {

enum class LiveFigure : std::uint8_t {
    calls,
    served,
    compressed,
    passed,
    bytes_in,
    bytes_sent,
    bytes_sent_exact,
    total_ns,
    codec_ns,
    wire_ns,
    sent_at_first_kind  ///< first of one counter for each kind of vertex
};
inline constexpr std::size_t live_figure_count =
    static_cast<std::size_t>(LiveFigure::sent_at_first_kind) + sent_kind_count;
/// Returns which figure counts the bytes of messages whose way turns at such a vertex.
constexpr LiveFigure sent_at(VertexKind kind) {
    return static_cast<LiveFigure>(static_cast<std::size_t>(LiveFigure::sent_at_first_kind) +
                                   static_cast<std::size_t>(kind));
}
using LiveFigures = std::array<std::uint64_t, live_figure_count>;

/// LiveFacts say who counts.
struct LiveFacts {
    std::int64_t process_id = 0;
    std::int64_t parent_id = 0;  ///< the same for ranks that one launcher started on a host
    std::int64_t start_unix_ns = 0;
    int rank = 0;  ///< in MPI_COMM_WORLD
    int ranks = 1;
    std::string host;          ///< at most 63 bytes are kept
    std::string command;       ///< at most 255 bytes are kept
    bool times_calls = false;  ///< it notes when calls come
};

/// A LivePage is the process's side: a file FOLDER/gradcoll-top-PROCESS of its own, that nobody
/// else may read, gone with this object. Thread safe.
class LivePage {
  public:
    /// Makes a page in memory of the process alone if the folder has no name. Errors: io.
    static Result<std::unique_ptr<LivePage>> make(const std::string& folder,
                                                  const LiveFacts& facts);
    ~LivePage();
    LivePage(const LivePage&) = delete;
    LivePage& operator=(const LivePage&) = delete;

    void add(const CallRecord& call);
    void add(const LinkUse& use);
    /// Says that somebody waits for other ranks, for `what`, now and since the other time
    /// (now_ns()); and with 0 that nobody does any more. There is one wait for each place.
    void waits(std::size_t place, std::uint64_t since_ns, std::uint64_t now_ns,
               std::string_view what);
    /// Adds a line for each wait to `out`, each after `begin`; or one that says that there is none,
    /// and which call came last, if calls are timed. For signal handlers of the process.
    void tell(std::string_view begin, SignalText& out) const;
    /// Removes the file; the rest stays in memory.
    void remove_file();

    /// Places of waits are below this.
    static constexpr std::size_t most_waits = 8;

    /// This many links have room; those of later trees are not counted.
    static constexpr std::size_t most_links = 16;

  private:
    LivePage() = default;
    void add(LiveFigure figure, std::uint64_t amount);
    void add(const OwnLink& link);
    Status make_file(const std::string& path, Descriptor& file);
    void note_time(const CallRecord& call);
    void tell_last_call(std::string_view begin, std::uint64_t now_ns, SignalText& out) const;

    struct Layout;
    Layout* page_ = nullptr;
    bool times_calls_ = false;
    std::string path_;
};

/// LiveWait is a wait for other ranks.
struct LiveWait {
    std::uint64_t waits_ns = 0;  ///< since so long
    std::string what;            ///< for people; at most 239 bytes are kept
};

/// LiveReading is one look at a page.
struct LiveReading {
    LiveFacts facts;
    std::string codec;  ///< the last lossy one; empty: none yet
    LiveFigures figures{};
    std::vector<OwnLink> links;   ///< with what was counted; at most 31 bytes of names are kept
    std::vector<LiveWait> waits;  ///< the longest one first; none: it does not wait for others

    std::uint64_t of(LiveFigure figure) const { return figures[static_cast<std::size_t>(figure)]; }
};

/// Reads a page. Errors: io; corrupt if the file is not such a page of this version, or not this
/// user's.
Result<LiveReading> read_live_page(const std::string& path);
/// Returns the files in a folder that have such a name, in the order of their names.
std::vector<std::string> live_page_paths(const std::string& folder);

}  // namespace gradcoll
