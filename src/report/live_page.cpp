#include "report/live_page.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <type_traits>

#include "base/clock.hpp"
#include "base/descriptor.hpp"

namespace gradcoll {
namespace {

constexpr std::string_view name_begin = "gradcoll-top-";
constexpr char magic[8] = {'G', 'C', 'T', 'O', 'P', '0', '4', '\n'};

template <std::size_t size>
void put(char (&to)[size], std::string_view text) {
    text.copy(to, size - 1);
}

/// Who waits says so every few milliseconds.
constexpr std::uint64_t longest_between_words_ns = 200'000'000;

/// Returns whether somebody waits, who has said so lately.
bool is_present(std::uint64_t since_ns, std::uint64_t seen_ns, std::uint64_t now_ns) {
    return since_ns != 0 && now_ns < seen_ns + longest_between_words_ns;
}

/// Returns what stands before the first null; a page may come from anywhere.
template <std::size_t size>
std::string text_in(const char (&from)[size]) {
    return {from, strnlen(from, size)};
}

Status failed(std::string_view what, const std::string& path) {
    return {Code::io, fmt::format("{} {}: {}", what, path, std::strerror(errno))};
}

/// A link with the key 0 is free; one without bandwidth is just being filled in.
template <class Character, class Figure>
struct LinkOf {
    Figure key;
    Figure to_kind;
    Figure bytes_per_s;
    Figure up_bytes;
    Figure down_bytes;
    Character name[32];
    Character to_name[32];
};

/// A wait whose `changes` are odd is just being filled in. One since 0 is none.
template <class Character, class Figure>
struct WaitOf {
    Figure changes;
    Figure since_ns;
    Figure seen_ns;  ///< when it last said so
    Character what[240];
};

/// PageOf is the file, byte for byte: as it is written, and as one reads it who only reads.
template <class Character, class Figure>
struct PageOf {
    char magic[8];
    std::uint64_t bytes;
    std::int64_t process_id;
    std::int64_t parent_id;
    std::int64_t start_unix_ns;
    std::int32_t rank;
    std::int32_t ranks;
    char host[64];
    char command[256];
    Character codec[32];
    Figure figures[live_figure_count];
    WaitOf<Character, Figure> waits[LivePage::most_waits];
    Figure last_call_ns;  ///< 0: none was timed
    Figure last_call_kind;
    Figure last_call_bytes;
    Figure last_call_passed;
    LinkOf<Character, Figure> links[LivePage::most_links];
};
using PlainLayout = PageOf<char, std::uint64_t>;
using AtomicWait = WaitOf<std::atomic<char>, std::atomic<std::uint64_t>>;
using AtomicLink = LinkOf<std::atomic<char>, std::atomic<std::uint64_t>>;

/// Writes a text, of which readers may see a part; they bear that.
template <std::size_t size>
void put(std::atomic<char> (&to)[size], std::string_view text) {
    for (std::size_t i = 0; i < size; ++i)
        to[i].store(i < text.size() && i + 1 < size ? text[i] : '\0', std::memory_order_relaxed);
}

}  // namespace

struct LivePage::Layout : PageOf<std::atomic<char>, std::atomic<std::uint64_t>> {};

Result<std::unique_ptr<LivePage>> LivePage::make(const std::string& folder,
                                                 const LiveFacts& facts) {
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
    static_assert(sizeof(Layout) == sizeof(PlainLayout));
    std::unique_ptr<LivePage> made(new LivePage);
    made->times_calls_ = facts.times_calls;
    Descriptor file;
    if (!folder.empty())
        GRADCOLL_TRY(
            made->make_file(fmt::format("{}/{}{}", folder, name_begin, facts.process_id), file));
    const int kind = file.is_open() ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void* memory = mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, kind, file.number(), 0);
    if (memory == MAP_FAILED) return failed("cannot map", made->path_);
    Layout* page = made->page_ = static_cast<Layout*>(memory);
    page->bytes = sizeof(Layout);
    page->process_id = facts.process_id;
    page->parent_id = facts.parent_id;
    page->start_unix_ns = facts.start_unix_ns;
    page->rank = facts.rank;
    page->ranks = facts.ranks;
    put(page->host, facts.host);
    put(page->command, facts.command);
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(page->magic, magic, sizeof magic);  // last: from now on it is complete
    return made;
}

Status LivePage::make_file(const std::string& path, Descriptor& file) {
    unlink(path.c_str());  // a process that had this number and did not end well may have left one
    constexpr mode_t own = 0600;
    file = Descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, own));
    if (!file.is_open()) return failed("cannot make", path);
    path_ = path;
    return ftruncate(file.number(), sizeof(Layout)) == 0 ? Status() : failed("cannot fill", path);
}

LivePage::~LivePage() {
    if (page_ != nullptr) munmap(page_, sizeof(Layout));
    remove_file();
}

void LivePage::remove_file() {
    if (!path_.empty()) unlink(path_.c_str());
    path_.clear();
}

void LivePage::add(LiveFigure figure, std::uint64_t amount) {
    if (amount != 0)
        page_->figures[static_cast<std::size_t>(figure)].fetch_add(amount,
                                                                   std::memory_order_relaxed);
}

void LivePage::add(const CallRecord& call) {
    CallSums sums;
    sums.add(call);
    add(LiveFigure::calls, sums.calls);
    add(LiveFigure::served, sums.served);
    add(LiveFigure::compressed, sums.compressed);
    add(LiveFigure::passed, sums.passed);
    add(LiveFigure::bytes_in, sums.bytes_in);
    add(LiveFigure::bytes_sent, sums.bytes_sent);
    add(LiveFigure::bytes_sent_exact, sums.bytes_sent_exact);
    add(LiveFigure::total_ns, sums.total_ns);
    add(LiveFigure::codec_ns, sums.codec_ns);
    add(LiveFigure::wire_ns, sums.wire_ns);
    if (times_calls_) note_time(call);
}

void LivePage::add(const LinkUse& use) {
    for (std::size_t kind = 0; kind < use.of_this_rank.size(); ++kind)
        add(sent_at(static_cast<VertexKind>(kind)), use.of_this_rank[kind]);
    for (const OwnLink& link : use.own_links) add(link);
    if (!use.codec.empty()) put(page_->codec, use.codec);
}

/// Says that a call has come: for a call that is waited for, that it has ended.
void LivePage::note_time(const CallRecord& call) {
    constexpr auto relaxed = std::memory_order_relaxed;
    page_->last_call_kind.store(static_cast<std::uint64_t>(call.kind), relaxed);
    page_->last_call_bytes.store(call.bytes, relaxed);
    page_->last_call_passed.store(call.pass_reason != nullptr ? 1 : 0, relaxed);
    page_->last_call_ns.store(now_ns(), std::memory_order_release);
}

void LivePage::waits(std::size_t place, std::uint64_t since_ns, std::uint64_t now_ns,
                     std::string_view what) {
    AtomicWait& wait = page_->waits[place];
    wait.changes.fetch_add(1, std::memory_order_acq_rel);
    wait.since_ns.store(since_ns, std::memory_order_relaxed);
    wait.seen_ns.store(now_ns, std::memory_order_relaxed);
    put(wait.what, what);
    wait.changes.fetch_add(1, std::memory_order_release);
}

void LivePage::tell(std::string_view begin, SignalText& out) const {
    const std::uint64_t now = now_ns();
    bool is_waiting = false;
    for (const AtomicWait& wait : page_->waits) {
        const std::uint64_t since = wait.since_ns.load(std::memory_order_acquire);
        if (!is_present(since, wait.seen_ns.load(std::memory_order_relaxed), now)) continue;
        is_waiting = true;
        out.add(begin).add("waits since ").add_seconds(now - std::min(now, since)).add(" ");
        const bool is_whole = wait.changes.load(std::memory_order_acquire) % 2 == 0;
        if (!is_whole) out.add("for others");
        for (std::size_t i = 0; is_whole && i < std::size(wait.what); ++i) {
            const char c = wait.what[i].load(std::memory_order_relaxed);
            if (c == '\0') break;
            out.add({&c, 1});
        }
        out.add("\n");
    }
    if (!is_waiting) tell_last_call(begin, now, out);
}

/// Adds the line of a process that does not wait.
void LivePage::tell_last_call(std::string_view begin, std::uint64_t now_ns, SignalText& out) const {
    out.add(begin).add("is in no wait that Gradcoll sees");
    const std::uint64_t last_ns = page_->last_call_ns.load(std::memory_order_acquire);
    const std::uint64_t kind = page_->last_call_kind.load(std::memory_order_relaxed);
    if (last_ns != 0 && kind < call_kind_count) {
        const bool passed = page_->last_call_passed.load(std::memory_order_relaxed) != 0;
        out.add("; its last call, ").add(name_of(static_cast<CallKind>(kind))).add(" of ");
        out.add(page_->last_call_bytes.load(std::memory_order_relaxed)).add(" bytes, ");
        out.add(passed ? "passed to the MPI library " : "was served ");
        out.add_seconds(now_ns - std::min(now_ns, last_ns)).add(" ago");
    } else {
        out.add("; it has made no call");
    }
    out.add("\n");
}

void LivePage::add(const OwnLink& link) {
    constexpr auto relaxed = std::memory_order_relaxed;
    for (AtomicLink& slot : page_->links) {
        std::uint64_t key = slot.key.load(relaxed);
        if (key == 0 && slot.key.compare_exchange_strong(key, link.key, relaxed)) key = link.key;
        if (key != link.key) continue;
        const auto bytes_per_s = static_cast<std::uint64_t>(link.gbytes_per_s * 1e9);
        if (slot.bytes_per_s.load(relaxed) != bytes_per_s) {
            put(slot.name, link.name);
            put(slot.to_name, link.to_name);
            slot.to_kind.store(static_cast<std::uint64_t>(link.to_kind), relaxed);
            slot.bytes_per_s.store(bytes_per_s, std::memory_order_release);
        }
        slot.up_bytes.fetch_add(link.up_bytes, relaxed);
        slot.down_bytes.fetch_add(link.down_bytes, relaxed);
        return;
    }
}

Result<LiveReading> read_live_page(const std::string& path) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.is_open()) return failed("cannot open", path);
    struct stat facts {};
    if (fstat(file.number(), &facts) != 0) return failed("cannot look at", path);
    if (!S_ISREG(facts.st_mode) || (facts.st_uid != geteuid() && geteuid() != 0))
        return Status(Code::corrupt, path + " is no file of this user");
    PlainLayout page{};
    if (read(file.number(), &page, sizeof page) != static_cast<ssize_t>(sizeof page) ||
        std::memcmp(page.magic, magic, sizeof magic) != 0 || page.bytes != sizeof page)
        return Status(Code::corrupt, path + " is no page of counters of this version");
    LiveReading reading;
    reading.facts = {page.process_id, page.parent_id,     page.start_unix_ns,   page.rank,
                     page.ranks,      text_in(page.host), text_in(page.command)};
    reading.codec = text_in(page.codec);
    const std::uint64_t now = now_ns();
    for (const auto& wait : page.waits)
        if (is_present(wait.since_ns, wait.seen_ns, now))
            reading.waits.push_back({now - std::min(now, wait.since_ns), text_in(wait.what)});
    std::sort(reading.waits.begin(), reading.waits.end(),
              [](const LiveWait& a, const LiveWait& b) { return a.waits_ns > b.waits_ns; });
    for (const auto& slot : page.links)
        if (slot.bytes_per_s != 0 && slot.to_kind < sent_kind_count)
            reading.links.push_back({slot.key, static_cast<VertexKind>(slot.to_kind),
                                     static_cast<double>(slot.bytes_per_s) * 1e-9,
                                     text_in(slot.name), text_in(slot.to_name), slot.up_bytes,
                                     slot.down_bytes});
    std::copy(std::begin(page.figures), std::end(page.figures), reading.figures.begin());
    return reading;
}

std::vector<std::string> live_page_paths(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        if (entry->path().filename().string().starts_with(name_begin))
            paths.push_back(entry->path().string());
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace gradcoll
