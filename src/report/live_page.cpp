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
constexpr char magic[8] = {'G', 'C', 'T', 'O', 'P', '0', '3', '\n'};

template <std::size_t size>
void put(char (&to)[size], std::string_view text) {
    text.copy(to, size - 1);
}

/// Who waits says so every few milliseconds.
constexpr std::uint64_t longest_between_words_ns = 200'000'000;

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
    Figure wait_since_ns;
    Figure wait_seen_ns;  ///< when it last said so
    LinkOf<Character, Figure> links[LivePage::most_links];
};
using PlainLayout = PageOf<char, std::uint64_t>;
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
    const std::string path = fmt::format("{}/{}{}", folder, name_begin, facts.process_id);
    unlink(path.c_str());  // a process that had this number and did not end well may have left one
    constexpr mode_t own = 0600;
    const Descriptor file(
        open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, own));
    if (!file.is_open()) return failed("cannot make", path);
    made->path_ = path;
    if (ftruncate(file.number(), sizeof(Layout)) != 0) return failed("cannot fill", path);
    void* memory =
        mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (memory == MAP_FAILED) return failed("cannot map", path);
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

LivePage::~LivePage() {
    if (page_ != nullptr) munmap(page_, sizeof(Layout));
    if (!path_.empty()) unlink(path_.c_str());
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
}

void LivePage::add(const LinkUse& use) {
    for (std::size_t kind = 0; kind < use.of_this_rank.size(); ++kind)
        add(sent_at(static_cast<VertexKind>(kind)), use.of_this_rank[kind]);
    for (const OwnLink& link : use.own_links) add(link);
    if (!use.codec.empty()) put(page_->codec, use.codec);
}

void LivePage::waits(std::uint64_t since_ns, std::uint64_t now_ns) {
    page_->wait_since_ns.store(since_ns, std::memory_order_relaxed);
    page_->wait_seen_ns.store(now_ns, std::memory_order_relaxed);
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
    if (const std::uint64_t now = now_ns(); now < page.wait_seen_ns + longest_between_words_ns)
        reading.waits_ns = now - std::min(now, page.wait_since_ns);
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
